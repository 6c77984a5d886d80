package reports

import (
	"github.com/lockstorm/lockstorm/checker"
)

// How much of a table stands open; the rest is folded, and what is beyond maxFindings and
// maxFaults is only counted: a page is to be read.
const (
	openFindings = 4 // of one check; fewer where many checks have some
	openInAll    = 9 // findings of all checks
	maxFindings  = 40
	openFaults   = 10
	maxFaults    = 200
	openSteps    = 30
	maxSteps     = 100
	maxNotes     = 20
)

// stepRow is a step of the story.
type stepRow struct {
	Step
	ID string
	Of []eventRef // the first event that shows it
}

// tale is the steps of an incident or of what a lock withstood.
type tale struct {
	Open, Folded []stepRow
	More         int // steps that are left out
}

func (e *evidence) tale(story string, steps []Step) tale {
	rows := make([]stepRow, 0, min(len(steps), maxSteps))
	for i, s := range steps[:min(len(steps), maxSteps)] {
		of, _ := e.refs(s.Events[:min(len(s.Events), 1)])
		rows = append(rows, stepRow{Step: s, ID: stepID(story, i), Of: of})
	}
	n := min(len(rows), openSteps)
	return tale{Open: rows[:n], Folded: rows[n:], More: len(steps) - len(rows)}
}

// findingRow is a finding in the table of its check.
type findingRow struct {
	checker.Finding
	ID   string
	Refs []eventRef
	More int // events that are not named
}

// checkRow is one check in the table of checks, with its findings.
type checkRow struct {
	Name         string
	Line         string
	Mark         string
	Result       checker.Result
	Open, Folded []findingRow
	More         int // findings that are left out
}

func checkRows(r *checker.Results, e *evidence) []checkRow {
	with := 0
	for _, c := range r.Checks {
		with += min(len(c.Findings), 1)
	}
	open := min(openFindings, openInAll/max(with, 1))
	var out []checkRow
	for _, name := range r.Order {
		c := r.Checks[name]
		row := checkRow{Name: name, Line: oneLine(c), Mark: mark(c), Result: c}
		for i, f := range c.Findings[:min(len(c.Findings), maxFindings)] {
			refs, more := e.refs(f.Events)
			shown := findingRow{f, findingID(name, i), refs, more}
			if i < open {
				row.Open = append(row.Open, shown)
			} else {
				row.Folded = append(row.Folded, shown)
			}
		}
		row.More = len(c.Findings) - len(row.Open) - len(row.Folded)
		out = append(out, row)
	}
	return out
}

// faultTable is the table of faults.
type faultTable struct {
	Open, Folded []faultRow
	More         int
}

func faultsTable(rows []faultRow) faultTable {
	shown := rows[:min(len(rows), maxFaults)]
	n := min(len(shown), openFaults)
	return faultTable{Open: shown[:n], Folded: shown[n:], More: len(rows) - len(shown)}
}

// notes are the first remarks on the record, and how many more there are.
type notes struct {
	Shown []string
	More  int
}

func notesOf(r *checker.Results) notes {
	shown := r.Notes[:min(len(r.Notes), maxNotes)]
	return notes{shown, len(r.Notes) - len(shown)}
}
