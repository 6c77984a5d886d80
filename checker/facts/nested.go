package facts

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// NestedWait is a wait for one lock while holding another.
type NestedWait struct {
	Client, Has, Wants string
	Wait               *history.Grant
	history.Interval
}

// NestedWaits returns the nested waits of a run, in order of their beginning. A client holds few locks at a time.
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
			if both := wait.Overlap(hold); (h.Lock != g.Lock || upgrades(h, g)) && hold.From <= wait.From && !both.Empty() &&
				g.Acquire.Invoke.F() == history.FAcquire {
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

// upgrades reports whether a reader that has a lock waits to be its writer: both are of one lock.
func upgrades(has, wants *history.Grant) bool {
	return has.Mode == history.ModeShared && wants.Mode != history.ModeShared
}

// Says describes a wait that is still going on, or is over.
func (w NestedWait) Says(now bool) string {
	holds, waits := "held", "waited"
	if now {
		holds, waits = "holds", "waits"
	}
	if w.Has == w.Wants {
		return fmt.Sprintf("%s %s lock %s as a reader and %s to be its writer", w.Client, holds, w.Has, waits)
	}
	return fmt.Sprintf("%s %s lock %s and %s for lock %s", w.Client, holds, w.Has, waits, w.Wants)
}

// LockedUp returns two clients, one of them the named one, that wait for each other from before a span on for nearly
// all of it, or nil. (A client that is told to stop gives up at its end.)
func (in *Facts) LockedUp(client string, span history.Interval) (pair []NestedWait) {
	end := span.From + (span.To-span.From)*9/10
	waits := slices.DeleteFunc(in.NestedWaits(), func(w NestedWait) bool { return w.From >= span.From || w.To < end })
	for i, a := range waits {
		for _, b := range waits[i+1:] {
			named := a.Client == client || b.Client == client
			if named && a.Client != b.Client && a.Wants == b.Has && b.Wants == a.Has {
				return []NestedWait{a, b}
			}
		}
	}
	return nil
}
