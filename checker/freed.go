package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// whyReleasedLate is why a release came when its grant was over: what held its client up, or
// its request, until the store had carried it out.
func (in *Input) whyReleasedLate(r foreignRelease) Cause { return in.CauseOf(r.by, r.release.End()) }

// freedBy is the release that took the lock of a grant away, as the cause of what came
// after it.
func (in *Input) freedBy(g *history.Grant, before int64) (Cause, bool) {
	began, found := in.robbed(g, before)
	if !found {
		return Cause{}, false
	}
	return in.releaseCause(began, g), true
}

// objectCause is why a lock object broke its word about a grant: a late release may be held up
// on its way; all else comes of a release that took the lock away, or of what hurt the store.
func (in *Input) objectCause(rule string, g *history.Grant, at int64) Cause {
	if rule == "foreign-release" {
		return in.CauseOf(g, at)
	}
	if c, freed := in.freedBy(g, at); freed {
		return c
	}
	return in.storeCause(g, at)
}

// releaseCause is a foreign release as the cause of what came of it for a grant.
func (in *Input) releaseCause(r foreignRelease, g *history.Grant) Cause {
	why := in.whyReleasedLate(r)
	text := fmt.Sprintf("the release of %s by %s at %s, which freed the lock of %s (%s)",
		r.by.ID, r.by.Client, Seconds(r.release.Start()), r.victim.ID, why.Text)
	if r.victim != g {
		text += fmt.Sprintf(" and led to that of %s", g.ID)
	}
	return Cause{Kind: CauseRelease, Fault: why.Fault, Text: text}
}

// mayBeFreedBy is a late release by a third grant that was carried out while the first one
// of an overlap was in force. It proves nothing where it was invoked before that, so it is
// no finding; but it is what an overlap without another cause may come of.
func (in *Input) mayBeFreedBy(o overlap) (Cause, bool) {
	for _, r := range in.tooLate() {
		g, rel := r.by, r.release
		third := g != o.first && g != o.second && g.Lock == o.first.Lock
		if third && rel.Start() < o.span.From && rel.End() > o.first.Sent() {
			why := in.CauseOf(g, rel.End())
			return Cause{Kind: CauseRelease, Fault: why.Fault, Text: fmt.Sprintf("perhaps the late release of %s by %s, carried out by %s (%s)",
				g.ID, g.Client, Seconds(rel.End()), why.Text)}, true
		}
	}
	return Cause{}, false
}
