package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// orphanPart is the part of the ttl for which a lock must be out of reach, although
// nobody believes that he holds it, to be called an orphan.
const orphanPart = 4

// orphans finds locks that stayed held although no client believed that it held them: an
// acquire or a release of unknown outcome, or the death of a holder, and then for a while
// nobody is granted the lock although somebody asks for it all the time. They are
// findings of their own and do not fail anything: whether the lock comes back is what
// liveness judges.
//
//	c1  acquire ......?
//	c2      |-----------waits, nobody holds-----------|granted
func (in *Input) orphans(figures Figures) []Finding {
	var out []Finding
	for _, lock := range in.Locks {
		out = append(out, in.orphansOf(lock)...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	if len(out) > 0 {
		figures["orphan_max_ns"] = out[0].To - out[0].From
	}
	return out[:min(len(out), maxFindings)]
}

func (in *Input) orphansOf(lock string) []Finding {
	free, byOK := in.freeSpans(lock), in.byOK(lock)
	tries := in.tries(lock)
	var out []Finding
	used := map[int]bool{} // free spans that have their explanation
	for _, g := range in.ByLock[lock] {
		since, how := in.abandoned(g)
		if how == "" {
			continue
		}
		i := sort.Search(len(free), func(i int) bool { return free[i].To > since })
		if i == len(free) || used[i] {
			continue
		}
		span := history.Interval{From: max(free[i].From, since), To: free[i].To}
		span = in.asked(byOK, tries, g, span)
		if span.To-span.From < in.Run.TTL/orphanPart || in.passedOn(byOK, g, since, span.From) {
			continue
		}
		used[i] = true
		f := Finding{
			Rule: "orphan", Class: NoClass, Reason: ReasonNeverReleased, Events: []int64{g.Acquire.Invoke.Index},
			Grants: []string{g.ID}, From: span.From, To: span.To,
			Message: fmt.Sprintf("%s stayed out of reach for %s although no client believed that it held it, after %s %s", lock, Millis(span.To-span.From), how, g.ID),
		}
		f.because(in.orphanCause(g))
		out = append(out, f)
	}
	return out
}

// byOK are the grants of a lock that were made for certain, in order of their answers.
func (in *Input) byOK(lock string) []*history.Grant {
	out := slices.DeleteFunc(slices.Clone(in.ByLock[lock]), func(g *history.Grant) bool { return !g.Granted() })
	slices.SortStableFunc(out, func(a, b *history.Grant) int { return cmp.Compare(a.From(), b.From()) })
	return out
}

// answeredAt is the place of the first grant that was answered at or after a moment.
func answeredAt(byOK []*history.Grant, at int64) int {
	return sort.Search(len(byOK), func(i int) bool { return byOK[i].From() >= at })
}

// passedOn reports whether somebody else was granted the lock after a grant was abandoned:
// then that is not what kept it out of reach later. A release counts from its request on.
func (in *Input) passedOn(byOK []*history.Grant, g *history.Grant, since, until int64) bool {
	if len(g.Releases) > 0 {
		since = g.Releases[len(g.Releases)-1].Start()
	}
	for _, h := range byOK[answeredAt(byOK, since+1):] {
		if h.From() > until {
			return false
		}
		if h != g && !in.Model.Together(g, h) {
			return true
		}
	}
	return false
}

// abandoned is since when a grant may be held by nobody, and why; no reason where its end
// is known.
func (in *Input) abandoned(g *history.Grant) (int64, string) {
	if g.Acquire == nil || g.Acquire.Outcome() == history.Fail {
		return 0, ""
	}
	kill, killed := in.Kills[g.Client]
	if !g.Granted() {
		return in.callEnd(g.Acquire), "the acquire of unknown outcome"
	}
	for _, rel := range g.Releases {
		if rel.Outcome() != history.Info {
			return 0, ""
		}
	}
	switch {
	case len(g.Releases) > 0:
		return in.callEnd(g.Releases[len(g.Releases)-1]), "the release of unknown outcome of"
	case killed:
		return kill, "the death of the holder of"
	default:
		return 0, ""
	}
}

// freeSpans are the times in which nobody provably holds the lock, each up to the next
// grant; the last one, without a grant, is left to liveness.
func (in *Input) freeSpans(lock string) []history.Interval {
	var holds []history.Interval
	for _, g := range in.ByLock[lock] {
		if h := in.Hold(g); !h.Empty() {
			holds = append(holds, h)
		}
	}
	slices.SortFunc(holds, func(a, b history.Interval) int { return cmp.Compare(a.From, b.From) })
	var out []history.Interval
	end := int64(0)
	for _, h := range holds {
		if h.From > end {
			out = append(out, history.Interval{From: end, To: h.From})
		}
		end = max(end, h.To)
	}
	return out
}

// asked is the last part of a free span in which a client asked for the lock all the time, by
// waiting or by trying again and again, and was granted it at the end or later: in between
// nobody could have it. While a fault hurt that client it could not have had it either. Of
// several clients it is the one that says most.
func (in *Input) asked(byOK []*history.Grant, tries map[*history.Grant]int64, g *history.Grant, span history.Interval) history.Interval {
	best := history.Interval{}
	next := byOK[answeredAt(byOK, span.To):]
	for _, h := range next[:min(len(next), maxAskers)] {
		switch {
		case tries[h] >= span.To:
			continue // it asked later
		case h == g || in.Model.Together(g, h):
			continue
		}
		from := max(span.From, tries[h])
		for _, f := range in.Faults {
			if f.Effective() && f.Hurts(h.Client) && f.Invoke.Time < span.To {
				from = max(from, min(f.Until(), span.To))
			}
		}
		if part := (history.Interval{From: from, To: span.To}); part.To-part.From > best.To-best.From {
			best = part
		}
	}
	return best
}

// maxAskers is among how many of the next grants an orphan is looked for.
const maxAskers = 20

// tries is since when the client of each grant had asked for it all the time: refused attempts
// count that follow each other closely.
func (in *Input) tries(lock string) map[*history.Grant]int64 {
	type chain struct{ since, last int64 }
	chains := map[string]chain{}
	out := map[*history.Grant]int64{}
	for _, g := range in.ByLock[lock] {
		if g.Acquire == nil {
			continue
		}
		c, trying := chains[g.Client]
		if !trying || g.Acquire.Start()-c.last > in.Run.TTL/10 {
			c.since = g.Acquire.Start()
		}
		if g.Granted() {
			out[g] = c.since
			delete(chains, g.Client)
			continue
		}
		if g.Acquire.Outcome() != history.Fail {
			delete(chains, g.Client)
			continue
		}
		c.last = g.Acquire.End()
		chains[g.Client] = c
	}
	return out
}
