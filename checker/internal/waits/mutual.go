package waits

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// deadlock asks how clients that wait for each other get out of it: the store reports it, a lease
// runs out, or they never do. Two clients wait for each other while each holds a lock, by its own
// belief, that the other one asks for. What never ends is found by liveness, which gates.
//
//	c1  |--holds L1--------------------
//	c1         |--waits for L2---------
//	c2     |--holds L2-----------------
//	c2           |--waits for L1-------
//	             |<-- each other ----->
func deadlock(in question) checker.Result {
	figures := checker.Figures{"deadlocks_reported": 0}
	for _, c := range in.Calls {
		if c.Return != nil && c.Return.Code() == history.ErrDeadlock {
			figures["deadlocks_reported"]++
			figures.Raise("deadlock_report_max_ns", c.Return.Time-c.Start())
		}
	}
	waits := in.NestedWaits()
	var findings []checker.Finding
	for i, a := range waits {
		for _, b := range waits[i+1:] {
			if b.From >= a.To {
				break // so do all after it
			}
			if a.Wants != b.Has || b.Wants != a.Has || a.Client == b.Client {
				continue
			}
			if both := a.Overlap(b.Interval); !both.Empty() {
				figures.Raise("mutual_wait_max_ns", both.To-both.From)
				figures["mutual_waits"]++
				findings = append(findings, mutualWait(a, b, both))
			}
		}
	}
	slices.SortStableFunc(findings, func(a, b checker.Finding) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	r := checker.Result{
		Verdict: checker.Pass, Method: "search for pairs of clients that wait for each other's locks",
		Figures: figures,
	}
	r.Findings = findings[:min(len(findings), checker.MaxFindings)]
	r.Reason = fmt.Sprintf("%s (two clients waited for each other's locks); the longest lasted %s; the store reported %s",
		checker.Count(figures["mutual_waits"], "mutual wait"), checker.Millis(figures["mutual_wait_max_ns"]),
		checker.Count(figures["deadlocks_reported"], "deadlock"))
	return r
}

func mutualWait(a, b facts.NestedWait, both history.Interval) checker.Finding {
	return checker.Finding{
		Rule: "mutual-wait", Class: checker.NoClass, Cause: checker.NoCause.Text, CauseKind: checker.CauseNone,
		Grants:  []string{a.Wait.ID, b.Wait.ID},
		Message: fmt.Sprintf("for %s, %s, while %s", checker.Millis(both.To-both.From), a.Says(false), b.Says(false)),
		Events:  []int64{a.Wait.Acquire.Invoke.Index, b.Wait.Acquire.Invoke.Index}, From: both.From, To: both.To,
	}
}

func takesTwo(in question) (checker.Code, string) {
	return checker.Only(len(in.NestedWaits()) > 0, checker.CodeElsewhere, "no client waited for a lock while it held another lock")
}
