package matrix

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
)

// sides are two suites beside each other, figure by figure.
type sides struct {
	Before, After string // their names
	Rows          []side
}

// side is a figure of a cell in both suites.
type side struct {
	Cell, Figure  string
	Doc           string
	Before, After shown
	Ratio         string // after to before; empty: there is none
	Differs       bool   // significantly
	Note          string
}

// Sides are this suite and the one that it was compared with: the word of each cell that both have, and each figure that was
// compared; nil: it was not compared.
func (t *Table) Sides() *sides {
	a := t.Baseline
	if a == nil {
		return nil
	}
	out := &sides{Before: a.Before, After: t.Name}
	if out.Before == out.After {
		out.Before, out.After = out.Before+" (before)", out.After+" (now)"
	}
	for _, w := range a.Said {
		out.Rows = append(out.Rows, side{
			Cell: w[0], Figure: "verdict", Before: shown{Text: w[1]}, After: shown{Text: w[2]}, Differs: w[1] != w[2],
		})
		for _, c := range a.All {
			if c.Cell == w[0] {
				out.Rows = append(out.Rows, sideOf(a, c))
			}
		}
	}
	return out
}

// sideOf is one figure of both.
func sideOf(a *gate.Against, c gate.Change) side {
	f, _ := tally.Find(c.Figure)
	s := side{Cell: c.Cell, Figure: c.Figure, Doc: f.Doc, Before: shownAs(f, c.Before), After: shownAs(f, c.After)}
	if c.Before.Value > 0 {
		s.Ratio = fmt.Sprintf("%.3g", c.After.Value/c.Before.Value)
	}
	at := slices.IndexFunc(a.Figures, func(o gate.Change) bool { return o.Cell == c.Cell && o.Figure == c.Figure })
	if at < 0 {
		return s
	}
	s.Differs, s.Note = true, fmt.Sprintf("%s (p = %.2g)", a.Figures[at].Verb(), a.Figures[at].P)
	return s
}

// Of are the rows that differ, or the others, under the same names; nil: there are none.
func (s *sides) Of(differs bool) *sides {
	out := &sides{Before: s.Before, After: s.After}
	out.Rows = slices.DeleteFunc(slices.Clone(s.Rows), func(r side) bool { return r.Differs != differs })
	if len(out.Rows) == 0 {
		return nil
	}
	return out
}
