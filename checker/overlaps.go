package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// overlap is two grants whose clients believed at the same time.
type overlap struct {
	first, second *history.Grant // by the start of their holds
	span          history.Interval
}

// overlaps finds all overlapping pairs on one lock.
func (in *Input) overlaps(lock string) []overlap {
	type held struct {
		g *history.Grant
		history.Interval
	}
	var holds []held
	for _, g := range in.ByLock[lock] {
		if h := in.Hold(g); !h.Empty() {
			holds = append(holds, held{g, h})
		}
	}
	slices.SortFunc(holds, func(a, b held) int { return cmp.Compare(a.From, b.From) })
	shares := in.Model.Shares()
	var out []overlap
	var active []held
	for _, h := range holds {
		active = slices.DeleteFunc(active, func(a held) bool { return a.To <= h.From })
		for _, a := range active {
			if shares && in.Model.Together(a.g, h.g) {
				continue
			}
			out = append(out, overlap{first: a.g, second: h.g, span: a.Overlap(h.Interval)})
		}
		active = append(active, h)
	}
	return out
}

// shown is when it was known that a grant is over although its client was not told: the first
// grant to somebody else who asked for the lock later.
func (in *Input) shown(g *history.Grant) int64 {
	in.mu.Lock()
	byOK, known := in.answered[g.Lock]
	if !known {
		byOK = in.byOK(g.Lock)
		in.answered[g.Lock] = byOK
	}
	in.mu.Unlock()
	for _, h := range byOK[answeredAt(byOK, g.From()+1):] {
		if h.Sent() > g.From() && !in.Model.Together(g, h) {
			return h.From()
		}
	}
	return history.Forever
}

// holdEvents are the events that show the holds of grants: what began each, and the
// last thing that its client did as the holder.
func (in *Input) holdEvents(grants ...*history.Grant) []int64 {
	var out []int64
	for _, g := range grants {
		out = append(out, g.Acquire.Return.Index)
		if n := len(g.Uses); n > 0 {
			out = append(out, g.Uses[n-1].Invoke.Index)
		}
		if len(g.Releases) > 0 {
			out = append(out, g.Releases[0].Invoke.Index)
		}
	}
	slices.Sort(out)
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

// bySent are the grants of a lock that were made for certain, in order of their requests.
func (in *Input) bySent(lock string) []*history.Grant {
	out := slices.DeleteFunc(slices.Clone(in.ByLock[lock]), func(g *history.Grant) bool { return !g.Granted() })
	slices.SortStableFunc(out, func(a, b *history.Grant) int { return cmp.Compare(a.Sent(), b.Sent()) })
	return out
}
