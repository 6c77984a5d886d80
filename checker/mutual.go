package checker

import (
	"cmp"
	"fmt"
	"slices"

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
func deadlock(in *Input) Result {
	figures := Figures{"deadlocks_reported": 0}
	for _, c := range in.Calls {
		if c.Return != nil && c.Return.Error == history.ErrDeadlock {
			figures["deadlocks_reported"]++
			figures.Raise("deadlock_report_max_ns", c.Return.Time-c.Start())
		}
	}
	waits := in.nestedWaits()
	var findings []Finding
	for i, a := range waits {
		for _, b := range waits[i+1:] {
			if b.From >= a.To {
				break // so do all after it
			}
			if a.wants != b.has || b.wants != a.has || a.client == b.client {
				continue
			}
			if both := a.Overlap(b.Interval); !both.Empty() {
				figures.Raise("mutual_wait_max_ns", both.To-both.From)
				figures["mutual_waits"]++
				findings = append(findings, mutualWait(a, b, both))
			}
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	r := Result{Verdict: Pass, Method: "who waits for a lock while he holds another one, pair by pair", Figures: figures}
	r.Findings = findings[:min(len(findings), maxFindings)]
	r.Reason = fmt.Sprintf("clients waited for each other %d times, for %s at most; the store reported %d deadlocks", figures["mutual_waits"], Millis(figures["mutual_wait_max_ns"]), figures["deadlocks_reported"])
	return r
}

// nestedWait is a wait for one lock under another one.
type nestedWait struct {
	client, has, wants string
	wait               *history.Grant
	history.Interval
}

// nestedWaits are those of a run, in order of their beginning. A client holds few locks at a time.
func (in *Input) nestedWaits() []nestedWait {
	held := map[string][]*history.Grant{} // by client: those that it may still hold
	end := in.Events[len(in.Events)-1].Time
	var out []nestedWait
	for _, g := range in.Grants {
		if g.Acquire == nil {
			continue
		}
		wait := history.Interval{From: g.Acquire.Start(), To: end}
		if kill, killed := in.Kills[g.Client]; g.Acquire.Return != nil {
			wait.To = g.Acquire.Return.Time // also where the outcome is unknown: its client waits no more
		} else if killed {
			wait.To = kill
		}
		still := held[g.Client][:0]
		for _, h := range held[g.Client] {
			hold := in.Hold(h)
			if len(h.Releases) == 0 && g.Acquire.Return == nil && !in.Leased() {
				hold.To = end // who waits says nothing
			}
			if hold.To > wait.From {
				still = append(still, h)
			}
			// It began to hold before, and waits for as long as it does both.
			if both := wait.Overlap(hold); h.Lock != g.Lock && hold.From <= wait.From && !both.Empty() && g.Acquire.Invoke.F == history.FAcquire {
				out = append(out, nestedWait{g.Client, h.Lock, g.Lock, g, both})
			}
		}
		if !in.Hold(g).Empty() {
			still = append(still, g)
		}
		held[g.Client] = still
	}
	slices.SortStableFunc(out, func(a, b nestedWait) int { return byFrom(a.Interval, b.Interval) })
	return out
}

// lockedUp are two clients that wait for each other from before a span on for nearly all of it, one of
// them the named one; nothing where there are none. (A client that is told to stop gives up at its end.)
func (in *Input) lockedUp(client string, span history.Interval) string {
	end := span.From + (span.To-span.From)*9/10
	waits := slices.DeleteFunc(in.nestedWaits(), func(w nestedWait) bool { return w.From >= span.From || w.To < end })
	for _, a := range waits {
		for _, b := range waits {
			if both := a.Overlap(b.Interval); a.client == client && a.wants == b.has && b.wants == a.has && both.From < span.From && both.To >= end {
				return fmt.Sprintf("%s holds %s and waits for %s, and %s the other way round", a.client, a.has, a.wants, b.client)
			}
		}
	}
	return ""
}

func mutualWait(a, b nestedWait, both history.Interval) Finding {
	return Finding{
		Rule: "mutual-wait", Class: NoClass, Cause: noCause.Text, CauseKind: CauseNone, Grants: []string{a.wait.ID, b.wait.ID},
		Message: fmt.Sprintf("%s held %s and waited for %s, and %s the other way round, for %s", a.client, a.has, a.wants, b.client, Millis(both.To-both.From)),
		Events:  []int64{a.wait.Acquire.Invoke.Index, b.wait.Acquire.Invoke.Index}, From: both.From, To: both.To,
	}
}

func takesTwo(in *Input) (Code, string) {
	if len(in.nestedWaits()) == 0 {
		return CodeElsewhere, "nobody waited for a lock while he held another one"
	}
	return "", ""
}
