package matrix

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
)

// Groups are the locks by their groups, in order.
func (t *Table) Groups() (out [][]answer.Lock) {
	for i, l := range t.Answer.Locks {
		if i == 0 || l.Group != t.Answer.Locks[i-1].Group {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], l)
	}
	return out
}

// Over is what stands above a group of locks.
func (t *Table) Over(group int) string {
	switch {
	case group == 0:
		return "not measured"
	case t.Answer.Groups == 1:
		return "all locks in one group: no significant differences"
	}
	return fmt.Sprintf("group %d: %s", group, []string{"fewest violations", "all other locks", "most violations"}[group-1])
}

// LockColumns are what the values of a lock are.
func (t *Table) LockColumns() []string {
	return []string{
		"violating runs", "survived", "violated under", "updates lost without a fence", "updates lost with the fence", "blocked",
		"recovery (median)", "acquire p50 / p99, no faults", "acquire p50 / p99, faults", "grants per s, without faults / with faults",
	}
}

// Values are a value for each column.
func (t *Table) Values(l answer.Lock) []shown {
	return []shown{
		figureOf("violating.runs", l.Rate),
		{Text: cmp.Or(strings.Join(l.Survived, ", "), "-")},
		{Text: cmp.Or(violated(l), "-")},
		unseen(figureOf("lost-updates.plain.percent", l.PlainShare), l.Plain, l.PlainUnseen),
		fenced(l),
		{Text: blocks(l)},
		figureOf("recovery.median", l.Recovery),
		beside("acquire.p50", l.Idle.P50, "acquire.p99", l.Idle.P99),
		beside("acquire.p50", l.Hurt.P50, "acquire.p99", l.Hurt.P99),
		beside("throughput", l.Idle.Throughput, "throughput", l.Hurt.Throughput),
	}
}

// figureOf is a figure with its interval.
func figureOf(figure string, v *tally.Value) shown {
	if v == nil {
		return shown{Text: "-"}
	}
	f, _ := tally.Find(figure)
	return shownAs(f, *v)
}

// beside are two figures without their intervals.
func beside(a string, of *tally.Value, b string, and *tally.Value) shown {
	return shown{Text: figureOf(a, of).Text + " / " + figureOf(b, and).Text}
}

func violated(l answer.Lock) string {
	var out []string
	for _, v := range l.Violated {
		out = append(out, fmt.Sprintf("%s (%s, %d of %d)", v.Fault, v.Word, v.Violating, v.Runs))
	}
	return strings.Join(out, ", ")
}

// unseen adds how many updates were overwritten unseen to the share of those that were lost for good, where they are more.
func unseen(s shown, lost, overwritten *tally.Value) shown {
	if lost != nil && overwritten != nil && overwritten.Value > lost.Value {
		s.Interval = strings.TrimPrefix(s.Interval+fmt.Sprintf("; %.0f overwritten unseen", overwritten.Value), "; ")
	}
	return s
}

// fenced is what was lost with the fence, and how often it refused.
func fenced(l answer.Lock) shown {
	if l.FencedShare == nil {
		return shown{Text: "not measured"}
	}
	s := unseen(figureOf("lost-updates.fenced.percent", l.FencedShare), l.Fenced, l.FencedUnseen)
	if l.Refused != nil && l.Refused.Value > 0 {
		s.Text += fmt.Sprintf(", %.0f refused", l.Refused.Value)
	}
	return s
}

func blocks(l answer.Lock) string {
	switch {
	case l.Blocked > 0:
		return fmt.Sprintf("forever in %d of %s", l.Blocked, checker.Count(l.Runs, "run"))
	case l.Orphan == nil:
		return "-"
	}
	return figureOf("orphan", l.Orphan).Text + " at most"
}
