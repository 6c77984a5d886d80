package waits

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// boundTry is the name of the bound of a try, as the workload says it.
const boundTry = "try"

// bounded asks whether every try was answered within the bound that the workload states, also while a
// fault was at work. What held the client itself up is not counted: a fault of its own, or the host.
func bounded(in question) checker.Result {
	bound := in.Run.Bounds[boundTry]
	var findings []checker.Finding
	figures := checker.Figures{}
	for _, g := range in.Grants {
		c := g.Acquire
		if c == nil || c.Invoke.F() != history.FTryAcquire {
			continue
		}
		end := in.CallEnd(c)
		took := history.Interval{From: c.Start(), To: end}
		took.From += in.heldBack(g.Client, took)
		figures.Raise("try_max_ns", took.To-took.From)
		if took.To-took.From > bound+in.Run.Tolerance {
			findings = append(findings, checker.Finding{
				Rule: "late-try", Class: checker.NoClass, Gating: true, Cause: checker.NoCause.Text, CauseKind: checker.CauseNone,
				Grants: []string{g.ID},
				Message: fmt.Sprintf("%s tried to acquire lock %s at %s, but got no answer for %s (limit: %s)", g.Client, g.Lock,
					checker.Seconds(c.Start()), checker.Millis(end-c.Start()), checker.Millis(bound)),
				Events: []int64{c.Invoke.Index}, From: c.Start(), To: end,
			})
			f := &findings[len(findings)-1]
			f.Because(in.CauseOf(g, end))
		}
	}
	r := in.Conclude("duration of each attempt to acquire the lock without waiting", findings, len(findings))
	r.Figures = figures
	if r.Verdict == checker.Pass {
		r.Reason = fmt.Sprintf("no attempt to acquire the lock took longer than %s (limit: %s)", checker.Millis(figures["try_max_ns"]),
			checker.Millis(bound))
	}
	return r
}

func boundsTries(in question) (checker.Code, string) {
	return checker.Only(in.Run.Bounds[boundTry] != 0, checker.CodeElsewhere, "this workload sets no time limit for lock attempts: "+
		"to test a time limit, use --workload try")
}

func statesBounds(run history.Run) bool { return run.Bounds[boundTry] > 0 }

// heldBack is for how much of a span a client was held up itself: stalls and faults that overlap count once.
func (in question) heldBack(client string, span history.Interval) int64 {
	return in.HeldUp(span, in.StallsOf(client), in.Stops(client, history.Forever))
}
