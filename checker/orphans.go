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
	free := in.freeSpans(lock)
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
		span = in.asked(lock, g, span)
		if span.To-span.From < in.Run.TTL/orphanPart || in.passedOn(g, since, span.From) {
			continue
		}
		used[i] = true
		f := Finding{
			Rule: "orphan", Class: NoClass, Reason: ReasonNeverReleased, Events: []int64{g.Acquire.Invoke.Index},
			Grants: []string{g.ID}, From: span.From, To: span.To,
			Message: fmt.Sprintf("%s stayed out of reach for %s although no client believed that it held it, after %s %s", lock, Millis(span.To-span.From), how, g.ID),
		}
		f.because(in.CauseOf(g, span.From))
		out = append(out, f)
	}
	return out
}

// passedOn reports whether somebody else was granted the lock after a grant was abandoned:
// then that is not what kept it out of reach later. A release counts from its request on.
func (in *Input) passedOn(g *history.Grant, since, until int64) bool {
	if len(g.Releases) > 0 {
		since = g.Releases[len(g.Releases)-1].Start()
	}
	return slices.ContainsFunc(in.ByLock[g.Lock], func(h *history.Grant) bool {
		return h != g && h.Granted() && h.From() > since && h.From() <= until && !in.Model.Together(g, h)
	})
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

// asked is the last part of a free span in which an acquire of another client was open
// that was granted at its end: in between nobody could have it.
func (in *Input) asked(lock string, g *history.Grant, span history.Interval) history.Interval {
	for _, h := range in.ByLock[lock] {
		if h.Granted() && h.From() == span.To && h != g && !in.Model.Together(g, h) {
			return history.Interval{From: max(span.From, h.Acquire.Start()), To: span.To}
		}
	}
	return history.Interval{}
}
