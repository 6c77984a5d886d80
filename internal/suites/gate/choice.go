package gate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
)

// choice asks of the cells which lock to choose.
func (r *Results) choice() *answer.Ranking {
	var cells []answer.Cell
	for _, j := range r.Cells {
		if j.Control || j.Chosen { // what was chosen says nothing of how often a lock fails
			continue
		}
		c := answer.Cell{
			Lock: j.Row, Fault: j.Column, Word: j.Word, Skipped: j.Status == Skipped, Samples: j.Samples(),
			Blocked: j.Failed[checker.Liveness],
		}
		if !c.Skipped {
			c.Open = max(j.Of-len(c.Samples), 0)
		}
		cells = append(cells, c)
	}
	return answer.Of(cells)
}

// locks is the answer as reports render it.
func locks(a *answer.Ranking) *matrix.Ranking {
	if a == nil {
		return nil
	}
	out := &matrix.Ranking{Ranked: a.RankedBy, Columns: lockColumns}
	for _, l := range a.Locks {
		out.Locks = append(out.Locks, matrix.Lock{
			Group: l.Group, Title: title(l.Group, a.Groups), Name: l.Name, Sentence: l.Sentence,
			Values: []matrix.Value{
				shownAs("violating.runs", l.Rate),
				{Text: cmp.Or(strings.Join(l.Survived, ", "), "-")},
				{Text: cmp.Or(violated(l), "-")},
				unseen(shownAs("lost-updates.plain.percent", l.PlainShare), l.Plain, l.PlainUnseen),
				fenced(l),
				{Text: blocks(l)},
				shownAs("recovery.median", l.Recovery),
				{Text: text("acquire.p50", l.Idle.P50) + " / " + text("acquire.p99", l.Idle.P99)},
				{Text: text("acquire.p50", l.Hurt.P50) + " / " + text("acquire.p99", l.Hurt.P99)},
				{Text: text("throughput", l.Idle.Throughput) + " / " + text("throughput", l.Hurt.Throughput)},
			},
		})
	}
	return out
}

// title is what stands above a group of so many.
func title(group, of int) string {
	switch {
	case group == 0:
		return "not measured"
	case of == 1:
		return "all locks in one group: no significant differences"
	}
	return fmt.Sprintf("group %d: %s", group, []string{"fewest violations", "all other locks", "most violations"}[group-1])
}

// lockColumns are what the values of a lock are.
var lockColumns = []string{
	"violating runs", "survived", "violated under", "updates lost without a fence", "updates lost with the fence", "blocked",
	"recovery (median)", "acquire p50 / p99, no faults", "acquire p50 / p99, faults", "grants per s, without faults / with faults",
}

// shownAs is a figure with its interval.
func shownAs(figure string, v *tally.Value) matrix.Value {
	if v == nil {
		return matrix.Value{Text: "-"}
	}
	out := matrix.Value{Text: answer.Text(figure, v.Value), Value: v.Value, Low: v.Low, High: v.High}
	if v.Low != v.High {
		out.Interval = answer.Text(figure, v.Low) + " to " + answer.Text(figure, v.High)
	}
	return out
}

func text(figure string, v *tally.Value) string { return shownAs(figure, v).Text }

func violated(l answer.Lock) string {
	var out []string
	for _, v := range l.Violated {
		out = append(out, fmt.Sprintf("%s (%s, %d of %d)", v.Fault, v.Word, v.Violating, v.Runs))
	}
	return strings.Join(out, ", ")
}

// unseen adds how many updates were overwritten unseen to the share of those that were lost for good, where they are more.
func unseen(v matrix.Value, lost, overwritten *tally.Value) matrix.Value {
	if lost != nil && overwritten != nil && overwritten.Value > lost.Value {
		v.Interval = strings.TrimPrefix(v.Interval+fmt.Sprintf("; %.0f overwritten unseen", overwritten.Value), "; ")
	}
	return v
}

// fenced is what was lost with the fence, and how often it refused.
func fenced(l answer.Lock) matrix.Value {
	if l.FencedShare == nil {
		return matrix.Value{Text: "not measured"}
	}
	v := unseen(shownAs("lost-updates.fenced.percent", l.FencedShare), l.Fenced, l.FencedUnseen)
	if l.Refused != nil && l.Refused.Value > 0 {
		v.Text += fmt.Sprintf(", %.0f refused", l.Refused.Value)
	}
	return v
}

func blocks(l answer.Lock) string {
	switch {
	case l.Blocked > 0:
		return fmt.Sprintf("forever in %d of %s", l.Blocked, plural(l.Runs, "run"))
	case l.Orphan == nil:
		return "-"
	}
	return answer.Text("orphan", l.Orphan.Value) + " at most"
}
