package reports

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// How many rows of a table are open; the rest is folded, and everything beyond maxFindings and maxFaults is only
// counted, so that the page stays readable.
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
	ID   string
	Of   []eventRef // the first event that shows it
	Time string     // as precise as the steps beside it need
}

// folded has rows of which the first are open, and the number of those left out.
type folded[T any] struct {
	Open, Folded []T
	More         int
}

// fold leaves so many rows open, and shows so many in all.
func fold[T any](rows []T, open, most int) folded[T] {
	shown := rows[:min(len(rows), most)]
	n := min(len(shown), open)
	return folded[T]{shown[:n], shown[n:], len(rows) - len(shown)}
}

// tale is the steps of an incident or of what a lock withstood.
type tale = folded[stepRow]

func (e *evidence) tale(story string, steps []Step) tale {
	show := moment
	if n := len(steps); n > 0 && steps[n-1].At-steps[0].At < 20_000_000 {
		show = precisely
	}
	rows := make([]stepRow, len(steps))
	for i, s := range steps {
		of, _ := e.refs(s.Events[:min(len(s.Events), 1)])
		rows[i] = stepRow{Step: s, ID: stepID(story, i), Of: of, Time: show(s.At)}
	}
	return fold(rows, openSteps, maxSteps)
}

// findingRow is a finding in the table of its check.
type findingRow struct {
	checker.Finding
	ID       string
	Refs     []eventRef
	More     int // events that are not named
	Incident int // that it belongs to, from 0; -1: none
}

// Nth is the number of its incident for people.
func (f findingRow) Nth() int { return f.Incident + 1 }

// Because says why, for people.
func (f findingRow) Because() string { return because(&f.Finding) }

// checkRow is one check in the table of checks, with its findings.
type checkRow struct {
	Name         string
	Line         string
	Mark         string
	Result       checker.Result
	Open, Folded []findingRow
	More         int // findings that are left out
}

func checkRows(r *checker.Results, e *evidence, all []*happening) []checkRow {
	e.incidents = map[string]int{}
	for i, h := range all {
		for _, f := range h.found {
			e.incidents[findingID(f.Check, f.at)] = i
		}
	}
	with := 0
	for _, c := range r.Checks {
		with += min(len(c.Findings), 1)
	}
	open := min(openFindings, openInAll/max(with, 1))
	var out []checkRow
	for _, name := range listedChecks(r) {
		c := r.Checks[name]
		row := checkRow{Name: name, Line: oneLine(c), Mark: mark(c), Result: c}
		listed := worstOf(c.Findings)
		row.Open = e.findings(name, c, listed[:min(len(listed), open)])
		row.Folded = e.findings(name, c, listed[len(row.Open):])
		row.More = len(c.Findings) - len(row.Open) - len(row.Folded)
		out = append(out, row)
	}
	return out
}

// worstOf are the indexes of the findings that a page lists, in the order of checker.Rank.
func worstOf(findings []checker.Finding) []int {
	all := make([]int, len(findings))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return checker.Rank(findings[a], findings[b]) })
	return all[:min(len(all), maxFindings)]
}

// findings are the rows of some findings of a check, in the order of the check.
func (e *evidence) findings(check string, c checker.Result, which []int) []findingRow {
	var out []findingRow
	for _, i := range slices.Sorted(slices.Values(which)) {
		refs, more := e.refs(c.Findings[i].Events)
		id, incident := findingID(check, i), -1
		if n, ok := e.incidents[id]; ok {
			incident = n
		}
		out = append(out, findingRow{c.Findings[i], id, refs, more, incident})
	}
	return out
}
