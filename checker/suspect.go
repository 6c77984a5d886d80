package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// bySent are the grants of a lock that were made for certain, in order of their requests.
func (in *Input) bySent(lock string) []*history.Grant {
	out := slices.DeleteFunc(slices.Clone(in.ByLock[lock]), func(g *history.Grant) bool { return !g.Granted() })
	slices.SortStableFunc(out, func(a, b *history.Grant) int { return cmp.Compare(a.Sent(), b.Sent()) })
	return out
}

// suspect names who may still hold the lock: the last of the most suspicious grants and
// attempts that nobody was granted the lock after.
func (in *Input) suspect(lock string, f *Finding) {
	bySent := in.bySent(lock)
	var found *history.Grant
	for _, g := range slices.Backward(in.ByLock[lock]) {
		switch {
		case g.Acquire == nil || g.Acquire.Outcome() == history.Fail || g.Sent() > f.To:
		case found != nil && suspicion(g) <= suspicion(found):
		case in.followed(bySent, g): // somebody was granted after it: it does not stand in the way
		case suspicion(g) > 0:
			found = g
		}
	}
	if found == nil {
		return
	}
	f.Rule, f.Reason = "orphan", ReasonNeverReleased
	f.Grants = []string{found.ID}
	f.Events = []int64{found.Acquire.Invoke.Index}
	f.because(in.orphanCause(found))
	what := "was granted"
	if !found.Granted() {
		what = "may have been granted"
	}
	f.Message += fmt.Sprintf("; %s of %s %s at %s and was never given back", found.ID, found.Client, what, Seconds(found.Sent()))
}

// followed reports whether the lock was granted to somebody who asked after g was known. An
// attempt of unknown outcome may have taken the lock until its client stopped waiting: grants
// while it waited say nothing.
func (in *Input) followed(bySent []*history.Grant, g *history.Grant) bool {
	since := in.callEnd(g.Acquire)
	if g.Granted() {
		since = g.From()
	}
	for _, h := range slices.Backward(bySent) {
		if h.Sent() <= since {
			return false
		}
		if h != g && !in.Model.Together(g, h) {
			return true
		}
	}
	return false
}

// orphanCause is why nobody knows what became of a grant: what was at work while its acquire
// or its release was under way, or killed its client.
func (in *Input) orphanCause(g *history.Grant) Cause {
	spans := []history.Interval{}
	if kill, killed := in.Kills[g.Client]; killed {
		spans = append(spans, history.Interval{From: kill, To: kill + 1})
	}
	for _, c := range append(slices.Clone(g.Releases), g.Acquire) {
		if c.Outcome() == history.Info {
			spans = append(spans, history.Interval{From: c.Start(), To: in.callEnd(c) + 1})
		}
	}
	var found *history.Injection
	most := int64(0)
	for _, f := range in.Faults {
		for _, s := range spans {
			if part := s.Overlap(f.Span()); f.Effective() && f.Hurts(g.Client) && part.To-part.From > most {
				found, most = f, part.To-part.From
			}
		}
	}
	if found == nil {
		return noCause
	}
	return faultCause(found)
}

// suspicion ranks what may keep a lock: above all who was granted it and never tried to give
// it back, last who may not even have been granted it. 0: it was given back.
func suspicion(g *history.Grant) int {
	gaveBack := func(c *history.Call) bool { return c.Outcome() == history.OK || isNotHeld(c) }
	switch {
	case slices.ContainsFunc(g.Releases, gaveBack):
		return 0
	case !g.Granted():
		return 1
	case len(g.Releases) > 0:
		return 2
	}
	return 3
}
