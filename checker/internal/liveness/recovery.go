package liveness

import (
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// recovery measures, for each fault that took effect, the time until the next grant: from its
// heal on, where that ends it; else from its beginning, to a client that it did not hurt. A
// grant that was asked for earlier says nothing.
func (in question) recovery(figures checker.Figures) (out []checker.Recovery) {
	grants := map[string][]*history.Grant{}
	for _, lock := range in.Locks {
		grants[lock] = in.BySent(lock)
	}
	for _, f := range in.Faults {
		if !f.Effective() || f.Unhealed() {
			continue
		}
		slowest := checker.Recovery{Fault: f.Fault.Fault, ID: f.ID, From: f.Began(), Took: -1}
		if healed(f) {
			slowest.From = f.HealEnd.Time
		}
		for _, lock := range in.Locks {
			next := in.nextGrant(grants[lock], f, slowest.From)
			if took := next - slowest.From; next < history.Forever && took > slowest.Took {
				slowest.Lock, slowest.Took = lock, took
				figures.Raise("recovery_max_ns", took)
			}
		}
		if slowest.Took >= 0 {
			out = append(out, slowest)
		}
	}
	return out
}

// healed reports whether a fault is over with its heal: not a fail-over, which is over when
// another server has taken over.
func healed(f *history.Injection) bool { return f.HealEnd != nil && !f.Gradual() }

// atOnce is by when a server that a fail-over strikes answers nobody any more: the kill is recorded just before the signal is
// sent.
const atOnce = int64(100e6)

// before reports whether a grant was made by a server just before a fail-over ended it, and not by the one that took over.
func (in question) before(f *history.Injection, g *history.Grant) bool {
	if !f.Gradual() {
		return false
	}
	struck := f.Began()
	for _, e := range in.Deaths {
		if slices.Contains(f.Nodes, e.Node()) && e.Time <= f.Effect.Time {
			struck = max(struck, e.Time)
		}
	}
	return g.From() < min(struck+atOnce, f.Effect.Time)
}

// nextGrant is when the next grant after a moment was known, of those that were sent for then.
func (in question) nextGrant(bySent []*history.Grant, f *history.Injection, from int64) int64 {
	i := sort.Search(len(bySent), func(i int) bool { return bySent[i].Sent() >= from })
	next := int64(history.Forever)
	for _, g := range bySent[i:] {
		if g.Sent() >= next {
			break
		}
		if healed(f) || (!slices.Contains(f.Clients, g.Client) && !in.before(f, g)) {
			next = min(next, g.From())
		}
	}
	return next
}
