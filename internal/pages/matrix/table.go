// Package matrix renders what a suite came to: backends down, faults across, and every cell with its
// figures and its runs, as a page, Markdown, CSV and JUnit. It knows nothing of how a cell was judged.
package matrix

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Table is what is rendered.
type Table struct {
	Title    string
	Program  string // that runs its commands
	Doc      string
	Verdict  string // in words
	Class    string // pass, fail or unknown
	Facts    [][2]string
	Alerts   []string // what makes the whole doubtful: controls, coverage
	Changes  []string // beside a baseline or another suite
	Sides    *Sides   // that one and this one, figure by figure; nil: there is none
	Answer   *Ranking // which lock; nil: there is none
	Figures  []Figure // the columns of the list of cells
	Cells    []Cell
	Versions [][2]string
}

// Ranking is the table by lock.
type Ranking struct {
	Ranked  string // by what the groups are made
	Columns []string
	Locks   []Lock
}

// Lock is a row of it, with a value for each column.
type Lock struct {
	Group    int    // 1: the best; 0: not measured
	Title    string // of the group
	Name     string
	Sentence string
	Values   []Value
}

// Grouped are the locks by their groups, in order.
func (a *Ranking) Grouped() (out [][]Lock) {
	for i, l := range a.Locks {
		if i == 0 || l.Group != a.Locks[i-1].Group {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], l)
	}
	return out
}

// Figure is a column of figures.
type Figure struct{ Name, Doc, Unit string }

// Value is a figure of a cell: in words, and as a number to sort and draw by.
type Value struct {
	Text             string
	Interval         string // in words; empty: there is none
	Value, Low, High float64
}

// Cell is a place of the matrix, or one of several in it.
type Cell struct {
	Name, Text  string
	Row, Column string
	Control     bool
	Status      string // what it is beside what was expected
	Kind        string // of the status, for its colour: good, bad, odd, open, off
	Word        string // what it shows: safe, inherent, defect, blocks, skipped, unknown
	Expected    string
	Rate        string // the figure that stands in the matrix
	Weak        bool   // it is safe by few exposures: hardly anything is shown by it
	Why         []string
	AsIt, Of    int
	Values      map[string]Value
	Runs        []Run
	Command     string
	Again       string // the command that shows again what Why tells first; empty: Command does
}

// Line is the command to repeat.
func (c Cell) Line() string { return cmp.Or(c.Again, c.Command) }

// Verbed is a command line without its program: the flags of a run, or a replay of a run directory.
func Verbed(line string) string {
	if strings.HasPrefix(line, "replay ") || strings.HasPrefix(line, "explore ") {
		return line
	}
	return "run " + line
}

// Door is where a cell leads: to the report of its run, where it has one; else to its row in the list.
func (c Cell) Door() string {
	if doors := c.linked(); len(doors) == 1 {
		return doors[0].Link
	}
	return (&url.URL{Fragment: c.Name}).String()
}

// maxDoors is how many runs a cell of the matrix leads to itself.
const maxDoors = 5

// Doors are the reports of several runs of a cell, those that are not as expected first.
func (c Cell) Doors() []Run {
	doors := c.linked()
	if len(doors) < 2 {
		return nil
	}
	slices.SortStableFunc(doors, func(a, b Run) int {
		good := func(r Run) int { return map[string]int{"good": 1}[r.Kind] }
		return cmp.Compare(good(a), good(b))
	})
	return doors[:min(len(doors), maxDoors)]
}

// linked are the runs that have a report.
func (c Cell) linked() (out []Run) {
	for _, r := range c.Runs {
		if r.Link != "" {
			out = append(out, r)
		}
	}
	return out
}

// Run is the evidence of a cell.
type Run struct {
	Label  string
	Link   string // to its report, from the page; empty: there is none
	Status string
	Kind   string
	Took   float64 // seconds
	Line   string  // its command
	Text   string  // why it is not as expected
}

// rows and columns are in the order in which cells come; controls are not among them.
func (t *Table) axes() (rows, columns []string) {
	for _, c := range t.Cells {
		if c.Control {
			continue
		}
		if !slices.Contains(rows, c.Row) {
			rows = append(rows, c.Row)
		}
		if !slices.Contains(columns, c.Column) {
			columns = append(columns, c.Column)
		}
	}
	return rows, columns
}

// at are the cells of a place.
func (t *Table) at(row, column string) (out []Cell) {
	for _, c := range t.Cells {
		if !c.Control && c.Row == row && c.Column == column {
			out = append(out, c)
		}
	}
	return out
}

// surprises are the cells that are not as expected, the worst first.
func (t *Table) surprises() []Cell {
	rank := map[string]int{"bad": 0, "open": 1, "odd": 2}
	var out []Cell
	for _, c := range t.Cells {
		if _, ok := rank[c.Kind]; ok {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Cell) int { return cmp.Compare(rank[a.Kind], rank[b.Kind]) })
	return out
}
