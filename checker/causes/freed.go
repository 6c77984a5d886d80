package causes

import (
	"cmp"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// WhyReleasedLate is why a release came when its grant was over: what held its client up, or
// its request, until the store had carried it out; else another late release that may have taken the lock of
// its grant away.
func (in Causes) WhyReleasedLate(r facts.ForeignRelease) checker.Cause {
	why := delayed(in.CauseOf(r.By, r.Release.End()), r.Release.Start(), r.By.DeadlineAt(r.Release.Start()))
	if why != checker.NoCause {
		return why
	}
	// It came in time, and found another client's lock: its own must have been freed before.
	if freed, ok := in.mayBeFreedBy(facts.Overlap{First: r.By, Second: r.Victim, Span: history.Interval{From: r.Victim.From(), To: r.Release.End()}}); ok {
		return freed
	}
	return why
}

// FreedBy is the release that took the lock of a grant away, as the cause of what came
// after it.
func (in Causes) FreedBy(g *history.Grant, before int64) (checker.Cause, bool) {
	began, found := in.Robbed(g, before)
	if !found {
		return checker.Cause{}, false
	}
	return in.ReleaseCause(began, g), true
}

// ObjectCause is why a lock object broke its word about a grant: a late release may be held up
// on its way; all else comes of a release that took the lock away, or of what hurt the store.
func (in Causes) ObjectCause(rule string, g *history.Grant, at int64) checker.Cause {
	if rule == "foreign-release" {
		return in.CauseOf(g, at)
	}
	if c, freed := in.FreedBy(g, at); freed {
		return c
	}
	if c := in.StoreCause(g, at); c != checker.NoCause {
		return c
	}
	c, _ := in.mayBeFreedBy(facts.Overlap{First: g, Second: g, Span: history.Interval{From: at, To: at}})
	return cmp.Or(c, checker.NoCause)
}

// ReleaseCause is a foreign release as the cause of what came of it for a grant.
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
			return checker.Cause{Kind: checker.CauseRelease, Fault: why.Fault, Text: fmt.Sprintf("a late release by %s (grant %s) may have freed the lock: the store carried out this release no later than %s (why the release came late: %s)",
				g.Client, g.ID, checker.Seconds(rel.End()), why.Text)}, true
		}
	}
	return checker.Cause{}, false
}
