package tables

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/suite/gate"
)

// Choosing is docs/choosing.md: which lock, by what a comparison of all stores has measured.
func Choosing(r *gate.Results) string {
	var p page
	seeds := 0
	for _, j := range r.Cells {
		if !j.Control {
			seeds = max(seeds, j.Of)
		}
	}
	p.line("# Which lock?\n\n<!-- Written by `make choosing`. Do not edit. -->\n")
	p.line(`Two questions decide more than the choice of a lock:

1. **What happens when a holder is late?** Every lock whose lease, session or connection can end lets a second client in
   while the first client still believes that it holds the lock. A faster store, a longer time to live or a watchdog makes
   such an overlap rarer, but never impossible. If an overlap would cost money, the data needs a fence: a resource that refuses old tokens, a
   condition in the write itself, or a transaction that holds the lock and writes the data.
2. **What happens when a holder dies?** If the lock has no lease, all other clients are then blocked forever.

Everything below is measured: %s without faults and under four faults, with %d seeds each, by

    lockstorm suite examples/choose.yaml

on %s, on a machine with %d processors: %s. Repeat the comparison with your time to live, your faults and your own
lock ([suite.md](suite.md)). With more seeds, more locks differ significantly.
`, locksOf(r), seeds, r.Started.UTC().Format("2006-01-02"), r.CPUs, r.Verdict)
	answer := r.Table("", "").Answer
	if answer == nil {
		return p.String()
	}
	p.line("## A summary of each lock\n\n%s\n", answer.Ranked)
	for _, group := range answer.Grouped() {
		p.line("**%s**\n", strings.ToUpper(group[0].Title[:1])+group[0].Title[1:])
		for _, l := range group {
			p.line("- %s", strings.Replace(l.Sentence, l.Name, "`"+l.Name+"`", 1))
		}
		p.line("")
	}
	p.line(`## In figures

The brackets contain the 95 %% interval or, with fewer than six runs, the range. Lost updates are a share of the acknowledged updates. "With the
fence" is a second register that refuses tokens older than the newest token that it has seen. A lock that issues no tokens could not be measured
with the second register. "Blocked" is the longest time in which the lock was free but no client could get it.
`)
	p.header(append([]string{"group", "lock"}, answer.Columns...)...)
	for _, l := range answer.Locks {
		cells := []string{fmt.Sprint(l.Group), "`" + l.Name + "`"}
		for _, v := range l.Values {
			text := v.Text
			if v.Interval != "" {
				text += " (" + v.Interval + ")"
			}
			cells = append(cells, text)
		}
		p.row(cells...)
	}
	p.line(`
## What this does not say

- The number of runs limits how many locks differ significantly. Locks of one group may differ, although these runs do not show a difference.
- All violations count alike on this page. A defect and a weakness inherent to leases have different cures. The entry of each lock above says which cure applies.
- Each lock ran on its smallest topology, with one server if possible. For fail-over see
  [ensembles.md](ensembles.md), [databases.md](databases.md) and [matrix.md](matrix.md).
- The times were measured on one machine. Compare only times within a column.

%s.
`, versionsOf(r))
	return p.String()
}

// locksOf counts the rows of the matrix.
func locksOf(r *gate.Results) string {
	if r.Answer == nil {
		return "No locks"
	}
	return fmt.Sprintf("%d locks", len(r.Answer.Locks))
}
