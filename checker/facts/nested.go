package facts

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// NestedWait is a wait for one lock under another one.
type NestedWait struct {
	Client, Has, Wants string
	Wait               *history.Grant
	history.Interval
}

// NestedWaits are those of a run, in order of their beginning. A client holds few locks at a time.
func (in *Facts) NestedWaits() []NestedWait {
	held := map[string][]*history.Grant{} // by client: those that it may still hold
	end := in.Events[len(in.Events)-1].Time
	var out []NestedWait
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
				out = append(out, NestedWait{g.Client, h.Lock, g.Lock, g, both})
			}
		}
		if !in.Hold(g).Empty() {
			still = append(still, g)
		}
		held[g.Client] = still
	}
	slices.SortStableFunc(out, func(a, b NestedWait) int { return ByFrom(a.Interval, b.Interval) })
	return out
}

// LockedUp are two clients that wait for each other from before a span on for nearly all of it, one of
// them the named one; nothing where there are none. (A client that is told to stop gives up at its end.)
func (in *Facts) LockedUp(client string, span history.Interval) string {
	end := span.From + (span.To-span.From)*9/10
	waits := slices.DeleteFunc(in.NestedWaits(), func(w NestedWait) bool { return w.From >= span.From || w.To < end })
	for _, a := range waits {
		for _, b := range waits {
			if both := a.Overlap(b.Interval); a.Client == client && a.Wants == b.Has && b.Wants == a.Has && both.From < span.From && both.To >= end {
				return fmt.Sprintf("%s holds lock %s and waits for lock %s, while %s holds lock %s and waits for lock %s", a.Client, a.Has, a.Wants, b.Client, b.Has, b.Wants)
			}
		}
	}
	return ""
}
