package liveness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
	"github.com/lockstorm/lockstorm/history"
)

// suspect names who may still hold the lock: all grants that nobody was granted the lock after and
// that were not given back for certain, the most suspicious first and the later before the
// earlier; attempts only where there is no such grant. Which of several it is the record cannot
// tell.
func (in question) suspect(lock string, f *checker.Finding) []*history.Grant {
	bySent := in.BySent(lock)
	var found []*history.Grant
	for _, g := range slices.Backward(in.ByLock[lock]) {
		switch {
		case g.Acquire == nil || g.Acquire.Outcome() == history.Fail || g.Sent() > f.To || suspicion(g) == 0:
		case len(found) > 0 && found[0].Granted() && !g.Granted():
		case in.followed(bySent, g): // somebody was granted after it: it does not stand in the way
		case len(found) > 0 && !found[0].Granted() && g.Granted():
			found = []*history.Grant{g}
		default:
			found = append(found, g)
		}
	}
	slices.SortStableFunc(found, func(a, b *history.Grant) int { return cmp.Compare(suspicion(b), suspicion(a)) })
	if len(found) == 0 {
		return nil
	}
	f.Rule, f.Reason = "orphan", checker.ReasonNeverReleased
	var names []string
	for _, g := range found {
		f.Grants = append(f.Grants, g.ID)
		f.Events = append(f.Events, g.Acquire.Invoke.Index)
		what := "granted"
		if !g.Granted() {
			what = "perhaps granted"
		}
		names = append(names, fmt.Sprintf("grant %s of %s (requested at %s and %s)", g.ID, g.Client, checker.Seconds(g.Sent()), what))
	}
	slices.Sort(f.Events)
	f.Because(in.anyCause(found))
	f.Message += fmt.Sprintf("; the store may still keep the lock for %s", orOthers(names))
	return found
}

// anyCause is the first cause that one of some grants has: which of them keeps the lock nobody knows.
func (in question) anyCause(found []*history.Grant) checker.Cause {
	for _, g := range found {
		if c := in.orphanCause(g); c.Kind != checker.CauseNone {
			return c
		}
	}
	return checker.NoCause
}

// hostMade reports whether nobody knows what became of grants because the host was busy: the answers of some
// were too late while something waited for it most of the time, and of all others a fault explains that.
// A lease would have ended them; what has none keeps them.
func (in question) hostMade(found []*history.Grant) bool {
	if in.Run.Ends == history.EndsLease || len(found) == 0 {
		return false
	}
	busy, made := in.Busy(0), false
	for _, g := range found {
		unknown, explained := 0, in.orphanCause(g).Kind != checker.CauseNone
		for _, c := range append(slices.Clone(g.Releases), g.Acquire) {
			if c.Outcome() != history.Info {
				continue
			}
			unknown++
			span := history.Interval{From: c.Start(), To: in.CallEnd(c)}
			if !explained && in.HeldUp(span, busy) <= (span.To-span.From)/2 {
				return false
			}
		}
		if unknown == 0 {
			return false // it was kept without a word
		}
		made = made || !explained
	}
	return made
}

// maxNamed is how many that may have kept a lock a message names.
const maxNamed = 3

// orOthers lists the first candidates and counts the rest.
func orOthers(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(slices.Clone(names[:maxNamed]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, " or ")
}

// followed reports whether the lock was granted to somebody who asked after g was known. An
// attempt of unknown outcome may have taken the lock until its client stopped waiting: grants
// while it waited say nothing.
func (in question) followed(bySent []*history.Grant, g *history.Grant) bool {
	since := in.CallEnd(g.Acquire)
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
func (in question) orphanCause(g *history.Grant) checker.Cause {
	spans := []history.Interval{}
	if kill, killed := in.Kills[g.Client]; killed {
		spans = append(spans, history.Interval{From: kill, To: kill + 1})
	}
	for _, c := range append(slices.Clone(g.Releases), g.Acquire) {
		if c.Outcome() == history.Info {
			spans = append(spans, history.Interval{From: c.Start(), To: in.CallEnd(c) + 1})
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
		return checker.NoCause
	}
	return causes.FaultCause(found)
}

// suspicion ranks what may keep a lock: above all who was granted it and never tried to give
// it back, last who may not even have been granted it. 0: it was given back.
func suspicion(g *history.Grant) int {
	gaveBack := func(c *history.Call) bool { return c.Outcome() == history.OK || c.NotHeld() }
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
