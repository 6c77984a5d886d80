package tables

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/suites/gate"
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

1. **What happens if a client loses the lock without noticing?** Many locks are freed when a lease, session or connection ends. A second client may then
   get the lock while the first client still believes that it holds the lock. A faster store, a longer time to live or a watchdog (a thread that
   renews the lease) makes such overlaps (two holders at once) rarer, but not impossible. If an overlap would do damage, protect the data with a
   fence. A fence refuses the late writes of a client that has lost the lock. There are three kinds of fences: a resource that refuses outdated
   fencing tokens, a conditional write (compare-and-set), and a transaction that both holds the lock and writes the data.
2. **What happens if a holder dies?** Most locks are freed when the lease, session, connection or process of the holder ends. If none of these events
   frees the lock, a dead holder blocks all other clients forever.

lockstorm measured %s without faults and under four faults. Each lock ran with %d seeds under each fault. The command was

    lockstorm suite examples/choose.yaml

The runs were made on %s, on a machine with %d processors. The suite reports "%s".
(A cell stands for all runs of one lock under one fault. If a fault cannot work on a lock, lockstorm skips the cell.) In every run, the clients update
a register (the protected data) that has no fence. If the lock issues fencing tokens, the clients also update a register that has a fence.

[backends.md](backends.md) describes the locks and their topologies (sets of servers). [faults.md](faults.md) describes the faults.
[suite.md](suite.md) explains how to repeat this comparison with your own lock, time to live and faults.
`, locksOf(r), seeds, r.Started.UTC().Format("2006-01-02"), r.CPUs, r.Verdict)
	answer := r.Table("", "").Answer
	if answer == nil {
		return p.String()
	}
	p.line(`## A summary of each lock

A name such as `+"`"+`client-pause`+"`"+` is the name of a fault. A lock survived a fault if no run of the lock under this fault ended with a violation. A lock
broke a promise in a run if the run ended with a violation.

%s
`, answer.Ranked)
	for _, group := range answer.Grouped() {
		p.line("**%s**\n", strings.ToUpper(group[0].Title[:1])+group[0].Title[1:])
		for _, l := range group {
			p.line("- %s", strings.Replace(l.Sentence, l.Name, "`"+l.Name+"`", 1))
		}
		p.line("")
	}
	p.line(`## In figures

Each row of the table shows one lock. The brackets contain the 95 %% confidence interval of the value. If there are fewer than six runs,
the brackets contain the range of the values. The columns have these meanings:

- **violating runs** is the share of the runs with a violation.
- **survived** lists the faults under which no run of the lock had a violation. The entry `+"`"+`none`+"`"+` means the runs without a fault.
- **violated under** lists the faults under which at least one run of the lock had a violation. `+"`"+`inherent`+"`"+`: every lock whose grants can end without a release allows this violation.
  `+"`"+`defect`+"`"+`: the lock violated its own guarantee. `+"`"+`blocks`+"`"+`: no client got the lock again. "5 of 5" means that all five runs had a violation.
- **updates lost** is the share of the acknowledged updates that were lost. %s
  "N overwritten unseen" is the number of updates that a client overwrote without having seen them, if later writes brought some of them back.
  The column "with the fence" shows the figure for the register with a fence. This register refuses every request whose token is older than the
  newest token that the register has seen. "N refused" means that the register refused N requests. "Not measured" means that the lock issues no tokens.
- **blocked** is the longest time for which no client could get the lock, although no client believed that it held the lock.
- **recovery** is the time from the end of a fault to the next grant. For a fail-over (another server takes over), the time starts at the beginning of
  the fault. If a run has several faults, only the longest recovery time of the run counts. The column recovery shows the median over all runs.
- **acquire p50 / p99** are the 50th and 99th percentiles of the time that a client needed to acquire the lock.
`, lostIs(r))
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
## What this page does not show

- Two locks in the same group may really differ, although these runs do not show a significant difference. More runs would show more significant
  differences.
- The ranking treats all violations alike. But the remedy for a defect is another lock, and the remedy for an inherent violation is a fence. The
  summary of each lock on this page names the remedies.
- Each lock ran on its smallest topology, with one server if possible. [ensembles.md](ensembles.md), [databases.md](databases.md) and
  [matrix.md](matrix.md) show the behaviour of locks during a fail-over.
- All times were measured on one machine. Compare a time only with other times of the same column.

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
