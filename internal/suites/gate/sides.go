package gate

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
)

// sides are the two suites beside each other: the word of each cell that both have, and each figure that was
// compared.
func (a *Against) sides(after string) *matrix.Sides {
	out := &matrix.Sides{Before: a.Before, After: after}
	if out.Before == out.After {
		out.Before, out.After = out.Before+" (before)", out.After+" (now)"
	}
	for _, w := range a.said {
		out.Rows = append(out.Rows, matrix.Side{
			Cell: w[0], Figure: "verdict", Before: matrix.Value{Text: w[1]},
			After: matrix.Value{Text: w[2]}, Differs: w[1] != w[2],
		})
		for _, c := range a.all {
			if c.Cell == w[0] {
				out.Rows = append(out.Rows, a.side(c))
			}
		}
	}
	return out
}

// side is one figure of both.
func (a *Against) side(c Change) matrix.Side {
	f, _ := tally.Find(c.Figure)
	s := matrix.Side{Cell: c.Cell, Figure: c.Figure, Doc: f.Doc, Before: valueShown(f, c.Before), After: valueShown(f, c.After)}
	if c.Before.Value > 0 {
		s.Ratio = fmt.Sprintf("%.3g", c.After.Value/c.Before.Value)
	}
	at := slices.IndexFunc(a.Figures, func(other Change) bool { return other.Cell == c.Cell && other.Figure == c.Figure })
	if at < 0 {
		return s
	}
	s.Differs, s.Note = true, fmt.Sprintf("better (p = %.2g)", a.Figures[at].P)
	if c.Worse {
		s.Note = fmt.Sprintf("worse (p = %.2g)", a.Figures[at].P)
	}
	return s
}
