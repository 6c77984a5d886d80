package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// Against is what differs between two suites, cell by cell.
type Against struct {
	Before   string   `json:"before"`
	New      []string `json:"new,omitempty"`      // cells with a violation that was not there before
	Vanished []string `json:"vanished,omitempty"` // cells whose violation is gone
	Only     []string `json:"only,omitempty"`     // cells that one of the two has not
	Figures  []Change `json:"figures,omitempty"`  // that differ beyond chance
	Compared int      `json:"compared"`           // figures

	All  []Change    `json:"-"` // that were compared, with P as measured
	Said [][3]string `json:"-"` // of each cell that both have: its name, and its word in either
}

// Change is a figure of a cell that differs beyond chance.
type Change struct {
	Cell   string      `json:"cell"`
	Figure string      `json:"figure"`
	Before tally.Value `json:"before"`
	After  tally.Value `json:"after"`
	P      float64     `json:"p"` // corrected for the number of comparisons
	Worse  bool        `json:"worse"`
}

// String is the change in a line.
func (c Change) String() string {
	f, _ := tally.Find(c.Figure)
	return fmt.Sprintf("%s: the figure %s became %s: it is now %s, and was %s before (p = %.2g)", c.Cell, c.Figure, c.Verb(),
		f.With(c.After), f.With(c.Before), c.P)
}

// Verb is better or worse.
func (c Change) Verb() string {
	if c.Worse {
		return "worse"
	}
	return "better"
}

// worth is how much of a figure must have changed to be told of, beside being no chance.
const worth = 0.2

// Compare says what differs from an earlier suite to a later one. A figure differs when chance would do
// so in less than 5 of 100 comparisons of suites as large as these, and by a fifth at least.
func Compare(before, after *SuiteResults) *Against {
	a := &Against{Before: before.Name}
	old := before.byName()
	var all []Change
	for _, j := range after.Cells {
		b, ok := old[j.Name]
		delete(old, j.Name)
		if j.Control {
			continue
		}
		if !ok {
			a.Only = append(a.Only, j.Name+" (new)")
			continue
		}
		if len(b.Samples()) > 0 && len(j.Samples()) == 0 {
			a.Only = append(a.Only, j.Name+unmeasured)
		}
		a.words(b, j)
		a.Said = append(a.Said, [3]string{j.Name, b.Shown(), j.Shown()})
		all = append(all, changes(b, j)...)
	}
	for _, name := range sortedKeys(old) {
		if !old[name].Control {
			a.Only = append(a.Only, name+gone)
		}
	}
	if len(after.Controls) > 0 {
		a.Only = append(a.Only, "controls with an unexpected outcome: "+
			strings.Join(after.Controls, ", ")+unmeasured)
	}
	a.Compared, a.All = len(all), slices.Clone(all)
	a.Figures = significant(all)
	return a
}

// words compares what the two show for certain: how bad it is, and which checks fail as what.
func (a *Against) words(b, j CellResult) {
	if b.Outcome == "" || j.Outcome == "" {
		return
	}
	more, less, broken := always(j, b), always(b, j), defects(j, b)
	was, is := b.Outcome, j.Outcome
	switch {
	case was != is && suite.WorseOf(was, is) == is:
		a.New = append(a.New, fmt.Sprintf("%s: the outcome is %s (before: %s)", j.Name, is, was))
	case len(more) > 0:
		a.New = append(a.New, fmt.Sprintf("%s: checks that fail now, but did not fail before: %s", j.Name, strings.Join(more, ", ")))
	case len(broken) > 0:
		a.New = append(a.New, fmt.Sprintf("%s: failures that no earlier run showed: %s", j.Name, strings.Join(broken, ", ")))
	case was != is:
		a.Vanished = append(a.Vanished, fmt.Sprintf("%s: the outcome is %s (before: %s)", j.Name, is, was))
	case len(less) > 0:
		a.Vanished = append(a.Vanished, fmt.Sprintf("%s: checks that failed before, but do not fail now: %s", j.Name,
			strings.Join(less, ", ")))
	}
}

// always returns the checks that fail in every run of one cell, of two at least, and in none of another one: a check
// that fails now and then by what is inherent to leases depends on the moment.
func always(j, other CellResult) []string {
	runs := len(j.Samples())
	return lists.Filter(sortedKeys(j.Failed), func(name string) bool {
		return runs >= 2 && j.Failed[name] == runs && other.Failed[name] == 0
	})
}

// defects returns the checks that fail in any run of a cell by more than what is inherent to leases, and did in no
// run of another one, with their classes. Results that do not say classes have none.
func defects(j, other CellResult) (out []string) {
	if len(other.Failed) > 0 && other.FailedAs == nil {
		return nil
	}
	for _, name := range sortedKeys(j.FailedAs) {
		if other.FailedAs[name] == 0 && !strings.HasSuffix(name, "("+string(checker.Inherent)+")") {
			out = append(out, fmt.Sprintf("%s in %d of %s", name, j.FailedAs[name], checker.Count(len(j.Samples()), "run")))
		}
	}
	return out
}

// Code is the exit code of a comparison that gates: 1 for a new violation, 5 where a figure is worse or a cell
// is gone.
func (a *Against) Code() int {
	switch {
	case len(a.New) > 0:
		return harness.ExitViolation
	case slices.ContainsFunc(a.Figures, func(c Change) bool { return c.Worse }), slices.ContainsFunc(a.Only, lost):
		return ExitMissed
	}
	return harness.ExitPass
}

// What marks a cell that the later suite has not, or has no answer of.
const (
	gone       = " (gone)"
	unmeasured = " (not measured)"
)

func lost(only string) bool {
	return strings.HasSuffix(only, gone) || strings.HasSuffix(only, unmeasured)
}

// told are the figures that are compared: counts that only say how long a suite was are not.
var told = []string{
	"throughput", "violations.rate", "violating.runs", "overlap", "lost-updates.percent", "loss-notice", "recovery.median",
	"acquire.p50", "acquire.p99", "renew.p99",
}

// changes compares what two cells measured. A run that ended early has measured for as long as it took to break.
func changes(b, j CellResult) (out []Change) {
	if slices.ContainsFunc(slices.Concat(b.Runs, j.Runs), func(o RunResult) bool { return o.Early }) {
		return nil
	}
	for _, name := range told {
		f, _ := tally.Find(name)
		p, ok := f.Chance(b.Samples(), j.Samples())
		if !ok {
			continue
		}
		was, is := b.Figures[name], j.Figures[name]
		out = append(out, Change{Cell: j.Name, Figure: name, Before: was, After: is, P: p, Worse: (is.Value > was.Value) != f.More})
	}
	return out
}

// significant are those that remain after the correction of Holm, the least likely first.
func significant(all []Change) (out []Change) {
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.P, b.P), strings.Compare(a.Cell+a.Figure, b.Cell+b.Figure))
	})
	least := 0.0
	for i, c := range all {
		least = max(least, min(1, c.P*float64(len(all)-i)))
		if least > 0.05 {
			break
		}
		c.P = least
		if low, high := min(c.Before.Value, c.After.Value), max(c.Before.Value, c.After.Value); high-low >= worth*high {
			out = append(out, c)
		}
	}
	return out
}
