package matrix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
)

// block is locks of one group, with what stands above them.
type block struct {
	Over string // empty: nothing does
	Rows []string
}

// Blocks are the rows of the matrix in the order of what to take; without an answer, as the suite has them.
func (t *Table) Blocks() (out []block) {
	rows, _ := t.axes()
	if t.Answer == nil {
		return []block{{Rows: rows}}
	}
	for i, l := range t.Answer.Locks {
		if i == 0 || l.Group != t.Answer.Locks[i-1].Group {
			out = append(out, block{Over: t.over(l.Group)})
		}
		last := &out[len(out)-1]
		last.Rows = append(last.Rows, l.Name)
	}
	rows = slices.DeleteFunc(rows, func(row string) bool { return t.Lock(row) != nil })
	return append(out, block{Rows: rows}) // what the answer says nothing of
}

// over is what stands above a group of locks.
func (t *Table) over(group int) string {
	switch {
	case group == 0:
		return "not measured"
	case t.Answer.Groups == 1:
		return "all locks in one group: no significant differences"
	}
	return fmt.Sprintf("group %d: %s", group, []string{"fewest violations", "all other locks", "most violations"}[group-1])
}

// Lock is what the answer says of a row; nil: nothing.
func (t *Table) Lock(row string) *answer.Lock {
	if t.Answer == nil {
		return nil
	}
	i := slices.IndexFunc(t.Answer.Locks, func(l answer.Lock) bool { return l.Name == row })
	if i < 0 {
		return nil
	}
	return &t.Answer.Locks[i]
}

// Measures are the columns beside the faults.
func (t *Table) Measures() []string {
	if t.Answer == nil {
		return nil
	}
	return []string{"lost, no fence", "lost, fence", "recovery", "p50"}
}

// Measured are the figures of a row, one for each of them.
func (t *Table) Measured(row string) []shown {
	l := t.Lock(row)
	if l == nil {
		return make([]shown, len(t.Measures()))
	}
	recovery := figureOf("recovery.median", l.Recovery)
	if l.Blocked > 0 {
		recovery.Text = fmt.Sprintf("never, %d/%d", l.Blocked, l.Runs)
	}
	return []shown{
		unseen(figureOf("lost-updates.plain.percent", l.PlainShare), l.Plain, l.PlainUnseen),
		unseen(figureOf("lost-updates.fenced.percent", l.FencedShare), l.Fenced, l.FencedUnseen),
		recovery, figureOf("acquire.p50", l.Idle.P50),
	}
}

// Share is in how many runs of a cell something was violated; of a cell alone the figure that says most of it.
func (t *Table) Share(c cell) string {
	l := t.Lock(c.Row)
	if l == nil {
		return c.Rate()
	}
	if v, ok := lists.Find(l.Violated, func(v answer.Violation) bool { return v.Fault == c.Column }); ok {
		return fmt.Sprintf("%d/%d", v.Violating, v.Runs)
	}
	return ""
}

// signs say the result of a cell at a glance.
var signs = map[string]string{"safe": "✓", "inherent": "▲", "defect": "✕", "blocks": "∞", "unknown": "?", "skipped": "–"}

// Sign is that of a cell; a word where there is none.
func (c cell) Sign() string {
	return cmp.Or(signs[c.Shown()], c.Shown())
}

// figureOf is a figure with its interval.
func figureOf(figure string, v *tally.Value) shown {
	if v == nil {
		return shown{Text: "-"}
	}
	f, _ := tally.Find(figure)
	return shownAs(f, *v)
}

// unseen adds how many updates were overwritten unseen to the share of those that were lost for good, where they are more.
func unseen(s shown, lost, overwritten *tally.Value) shown {
	if lost != nil && overwritten != nil && overwritten.Value > lost.Value {
		s.Interval = strings.TrimPrefix(s.Interval+fmt.Sprintf("; %.0f overwritten unseen", overwritten.Value), "; ")
	}
	return s
}
