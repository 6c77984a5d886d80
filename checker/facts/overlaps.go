package facts

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// Overlap is two grants whose clients both believed to hold the lock.
type Overlap struct {
	First, Second *history.Grant // by the start of their holds
	Span          history.Interval
}

// Overlaps returns all overlapping pairs on one lock.
func (in *Facts) Overlaps(lock string) []Overlap {
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
	slices.SortStableFunc(holds, func(a, b held) int { return cmp.Compare(a.From, b.From) })
	shares := in.Model.Shares()
	var out []Overlap
	var active []held
	for _, h := range holds {
		active = slices.DeleteFunc(active, func(a held) bool { return a.To <= h.From })
		for _, a := range active {
			if shares && in.Model.Together(a.g, h.g) {
				continue
			}
			out = append(out, Overlap{First: a.g, Second: h.g, Span: a.Overlap(h.Interval)})
		}
		active = append(active, h)
	}
	return out
}

// Shown returns when it was known that a grant is over although its client was not told: the first grant to another
// client that asked for the lock later.
func (in *Facts) Shown(g *history.Grant) int64 {
	in.mu.Lock()
	byOK, known := in.answered[g.Lock]
	if !known {
		byOK = in.ByOK(g.Lock)
		in.answered[g.Lock] = byOK
	}
	in.mu.Unlock()
	for _, h := range byOK[AnsweredAt(byOK, g.From()+1):] {
		if h.Sent() > g.From() && !in.Model.Together(g, h) {
			return h.From()
		}
	}
	return history.Forever
}

// HoldEvents returns the events that show the holds of grants: the beginning of each, and the last act of its client
// as the holder.
func (in *Facts) HoldEvents(grants ...*history.Grant) []int64 {
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

// ByOK returns the certain grants of a lock, in order of their answers.
func (in *Facts) ByOK(lock string) []*history.Grant {
	out := slices.DeleteFunc(slices.Clone(in.ByLock[lock]), func(g *history.Grant) bool { return !g.Granted() })
	slices.SortStableFunc(out, func(a, b *history.Grant) int { return cmp.Compare(a.From(), b.From()) })
	return out
}

// AnsweredAt returns the index of the first grant that was answered at or after a time.
func AnsweredAt(byOK []*history.Grant, at int64) int {
	return sort.Search(len(byOK), func(i int) bool { return byOK[i].From() >= at })
}

// BySent returns the certain grants of a lock, in order of their requests.
func (in *Facts) BySent(lock string) []*history.Grant {
	out := slices.DeleteFunc(slices.Clone(in.ByLock[lock]), func(g *history.Grant) bool { return !g.Granted() })
	slices.SortStableFunc(out, func(a, b *history.Grant) int { return cmp.Compare(a.Sent(), b.Sent()) })
	return out
}
