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
	p.line(`Two questions matter more than the choice of a lock:

1. **What happens when a holder is late?** If a lock can end by the end of a lease, a session or a connection, a second client may get the
   lock while the first client still believes that it holds the lock. A faster store, a longer time to live or a watchdog (a thread that renews
   the lease) makes such an overlap rarer, but never impossible. If an overlap would cost money, the data needs a fence. A fence is one of these:
   a resource that refuses old tokens, a condition in the write itself, or a transaction that holds the lock and writes the data.
2. **What happens when a holder dies?** If neither a lease nor the end of the holder's session, connection or process frees the lock, the lock
   then blocks all other clients forever.

lockstorm measured %s without faults and under four faults, with %d seeds each. The command was

    lockstorm suite examples/choose.yaml

The runs were made on %s, on a machine with %d processors. The suite reports "%s".
(A cell is one lock under one fault. lockstorm skips a fault that cannot work on a lock.) In every run, clients update a register (the protected
data) without a fence and, if the lock issues fencing tokens, a register with a fence.

[backends.md](backends.md) describes the locks and their topologies (sets of servers). [faults.md](faults.md) describes the faults.
[suite.md](suite.md) says how to repeat the comparison with your time to live, your faults and your own lock.
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

Each row is one lock. The brackets contain the 95 %% interval or, with fewer than six runs, the range. The columns have these meanings:

- **violating runs** is the share of the runs in which the lock broke a promise.
- **survived** lists the faults under which no run had a violation. ` + "`" + `none` + "`" + ` means the runs without a fault.
- **violated under** lists the other faults. ` + "`" + `inherent` + "`" + `: every lock that can end without a release allows this violation. ` + "`" + `defect` + "`" + `: the lock
  broke its own promise. ` + "`" + `blocks` + "`" + `: no client got the lock again. "5 of 5" means that all five runs had a violation.
- **updates lost** is a share of the acknowledged updates. A lost update was overwritten by a client that had never seen it. "With the fence" is
  the second register. It refuses tokens that are older than the newest token that it has seen. "N refused" means that the fence refused N
  requests. "Not measured" means that the lock issues no tokens.
- **blocked** is the longest time in which the lock was free but no client could get it.
- **recovery** is the time from the end of a fault to the next grant. For a fail-over, the time starts when the fault begins. The longest time\n  of each run counts, and the table has the median of the runs.
- **acquire p50 / p99** are percentiles of the time to acquire the lock.
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

- Two locks of one group may differ, although these runs do not show a difference. More runs show more differences.
- The ranking counts all violations alike, but a defect and an inherent violation have different remedies. The entry of each lock above names
  the remedies.
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
