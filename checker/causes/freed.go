package causes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// WhyReleasedLate returns why a release came when its grant was over: what held up its client, or its request, until
// the store had carried it out; else another late release that may have taken the lock of its grant away.
func (in Causes) WhyReleasedLate(r facts.ForeignRelease) checker.Cause {
	why := delayed(in.CauseOf(r.By, r.Release.End()), r.Release.Start(), r.By.DeadlineAt(r.Release.Start()))
	if why != checker.NoCause {
		return why
	}
	// It came in time, and found another client's lock: its own must have been freed before.
	if freed, ok := in.mayBeFreedBy(facts.Overlap{First: r.By, Second: r.Victim, Span: history.Interval{
		From: r.Victim.From(),
		To:   r.Release.End(),
	}}); ok {
		return freed
	}
	return why
}

// FreedBy returns the release that took the lock of a grant away, as the cause of what came after it.
func (in Causes) FreedBy(g *history.Grant, before int64) (checker.Cause, bool) {
	began, found := in.Robbed(g, before)
	if !found {
		return checker.Cause{}, false
	}
	return in.ReleaseCause(began, g), true
}

// ObjectCause returns why a lock object broke its word about a grant, or about two that it gave at once. A late release may have
// been held up on its way; everything else comes from a release that took the lock away, or from what hurt the store.
func (in Causes) ObjectCause(rule string, first, second *history.Grant, at int64) checker.Cause {
	if rule == "foreign-release" {
		return in.CauseOf(first, at)
	}
	return in.brokenBy(first, second, at, at)
}

// brokenBy is why a lock was not its holder's any more at a moment, and may have been no more from an earlier one on: a release
// that took it away, what hurt the store, a late release that may have taken it away, or what befell those who took the lock
// over. The second grant may be nil.
func (in Causes) brokenBy(first, second *history.Grant, at, known int64) checker.Cause {
	if c, freed := in.FreedBy(first, at); freed {
		return c
	}
	if c := in.StoreCause(first, known); c != checker.NoCause {
		return c
	}
	if c, late := in.mayBeFreedBy(facts.Overlap{
		First: first, Second: cmp.Or(second, first),
		Span: history.Interval{From: at, To: at},
	}); late {
		return c
	}
	if second == nil || !first.Granted() || !second.Granted() {
		return checker.NoCause
	}
	return in.takenOver(first, second)
}

// takenOver is a fault that may have led to two grants at once, where clients judge by themselves whether a lock is stale: it
// held the client of one of them up between its request and its grant, or killed the holder before.
//
//	z  |--holds--X
//	b         |-asks, finds it stale---[ paused ]---takes it over
//	a             |-takes it over |--holds--------------------
func (in Causes) takenOver(first, second *history.Grant) checker.Cause {
	if f := in.heldAsking(first, second); f != nil {
		return FaultCause(f)
	}
	for _, f := range slices.Backward(in.Faults) {
		if f.Family == history.FamilyClient && f.Effective() && in.diedBefore(f, first, second) {
			return FaultCause(f)
		}
	}
	return checker.NoCause
}

// heldAsking is the fault that held the client of one of two grants up longest between its request and its grant, while the other
// one was granted or had been before; nil: none did. What was decided by a request that left only after the fault is none of its
// doing.
func (in Causes) heldAsking(first, second *history.Grant) (found *history.Injection) {
	most := int64(0)
	for _, g := range []*history.Grant{first, second} {
		other := second
		if g == second {
			other = first
		}
		asked := history.Interval{From: g.Acquire.Start(), To: g.From()}
		for _, f := range in.Faults {
			part := asked.Overlap(f.Span())
			if f.Family == history.FamilyClient && f.Effective() && f.Hurts(g.Client) && g.Sent()+in.Run.Tolerance <= f.Span().To &&
				other.Sent() <= f.Span().To && part.To-part.From > most {
				found, most = f, part.To-part.From
			}
		}
	}
	return found
}

// diedBefore reports whether a fault killed a client that had the lock of two grants, or may have had it, and nobody else was
// granted it between.
func (in Causes) diedBefore(f *history.Injection, first, second *history.Grant) bool {
	last := max(first.From(), second.From())
	for _, z := range in.ByLock[first.Lock] {
		kill, dead := in.Kills[z.Client]
		if !dead || !f.Hurts(z.Client) || kill > last || z == first || z == second || z.Acquire == nil ||
			z.Acquire.Outcome() == history.Fail || z.Sent() > kill || z.Answered() <= kill {
			continue
		}
		if !slices.ContainsFunc(in.ByLock[first.Lock], func(h *history.Grant) bool {
			// not one more that took it over
			alone := in.Hold(h).Overlap(in.Hold(first)).Empty() && in.Hold(h).Overlap(in.Hold(second)).Empty()
			return h != z && h != first && h != second && h.Granted() && h.Sent() > kill && h.From() < last && alone
		}) {
			return true
		}
	}
	return false
}

// ReleaseCause returns a foreign release as the cause of its consequences for a grant.
func (in Causes) ReleaseCause(r facts.ForeignRelease, g *history.Grant) checker.Cause {
	why := in.WhyReleasedLate(r)
	text := fmt.Sprintf("%s released grant %s at %s, but this release freed the lock that grant %s held (the reason: %s)",
		r.By.Client, r.By.ID, checker.Seconds(r.Release.Start()), r.Victim.ID, why.Text)
	if r.Victim != g {
		text += fmt.Sprintf("; as a consequence, grant %s lost the lock", g.ID)
	}
	return checker.Cause{Kind: checker.CauseRelease, Fault: why.Fault, Text: text}
}

// mayBeFreedBy is a late release by a third grant that was carried out while the first one
// of an overlap was in force. It proves nothing where it was invoked before that, so it is
// no finding; but it is what an overlap without another cause may come of.
func (in Causes) mayBeFreedBy(o facts.Overlap) (checker.Cause, bool) {
	for _, r := range in.LateReleases() {
		g, rel := r.By, r.Release
		third := g != o.First && g != o.Second && g.Lock == o.First.Lock
		if third && rel.Start() < o.Span.From && rel.End() > o.First.Sent() {
			why := in.CauseOf(g, rel.End())
			return checker.Cause{Kind: checker.CauseRelease, Fault: why.Fault, Text: fmt.Sprintf("a late release by %s (grant %s) may "+
				"have freed the lock: the store carried out this release no later than %s (why the release came late: %s)",
				g.Client, g.ID, checker.Seconds(rel.End()), why.Text)}, true
		}
	}
	return checker.Cause{}, false
}
