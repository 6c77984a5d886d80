package liveness

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// keeper is a grant or an attempt that the store may have held for nobody, and when at most: it
// may not have held it at all.
type keeper struct {
	g *history.Grant
	history.Interval
}

// keepers are those of a lock, in order of their requests: all that nothing on record excludes.
func (in question) keepers(lock string, byOK []*history.Grant) []keeper {
	var out []keeper
	lasts := in.leasesOf(lock)
	for _, g := range in.ByLock[lock] {
		if g.Acquire == nil || g.Acquire.Outcome() == history.Fail {
			continue
		}
		k := keeper{g, history.Interval{From: g.Sent(), To: history.Forever}}
		if back, settled := settledBy(g); settled {
			if in.Hold(g).To >= back.Start() {
				continue // its client believed in it until it gave it back
			}
			k.To = back.End()
		}
		if in.Leased() {
			k.To = min(k.To, lasts(g))
		}
		if k.To = min(k.To, in.succeeded(byOK, g)); !k.Empty() {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b keeper) int { return cmp.Compare(a.From, b.From) })
	return out
}

// inTheWay are the keepers that may have stood in a client's way during a span.
func (in question) inTheWay(h *history.Grant, keepers []keeper, span history.Interval) []keeper {
	var out []keeper
	for _, k := range keepers {
		if k.g.Granted() && k.g.From() >= span.To {
			continue // it was granted next
		}
		if k.g != h && !k.Overlap(span).Empty() && !in.Model.Together(k.g, h) {
			out = append(out, k)
		}
	}
	return out
}

// latest is when the last of some keepers was over.
func latest(keepers []keeper) int64 {
	var to int64
	for _, k := range keepers {
		to = max(to, k.To)
	}
	return to
}

// settledBy is the release by which the store said that a grant is over. Of an attempt of
// unknown outcome none says so: it may be granted later.
func settledBy(g *history.Grant) (*history.Call, bool) {
	return lists.Find(g.Releases, func(rel *history.Call) bool {
		return g.Granted() && (rel.Outcome() == history.OK || rel.NotHeld())
	})
}

// leasesOf tells when the lease of each grant of a lock had run out at the latest. Where the store
// counts, an owner that enters again may renew what it has.
func (in question) leasesOf(lock string) func(*history.Grant) int64 {
	if !in.Leased() || !in.Model.Counts() {
		return in.outlived
	}
	made := slices.DeleteFunc(slices.Clone(in.ByLock[lock]), func(g *history.Grant) bool {
		return g.Acquire == nil || g.Acquire.Outcome() == history.Fail
	})
	slices.SortStableFunc(made, func(a, b *history.Grant) int { return cmp.Compare(a.Sent(), b.Sent()) })
	type tenure struct{ to int64 }
	of, last := map[*history.Grant]*tenure{}, map[facts.Owner]*tenure{}
	for _, g := range made {
		t := last[facts.OwnerOf(g)]
		if t == nil || g.Sent() > t.to {
			t = &tenure{}
			last[facts.OwnerOf(g)] = t
		}
		t.to = max(t.to, in.outlived(g))
		of[g] = t
	}
	return func(g *history.Grant) int64 { return of[g].to }
}

// outlived is when the lease of a grant had run out at the latest: with every renewal that may
// have been applied and, since stores may be slow to notice, half a lease more. An attempt may
// have reached the store late.
func (in question) outlived(g *history.Grant) int64 {
	ttl := in.Run.TTL
	slow := ttl/2 + in.Run.Tolerance + in.Run.Recovery
	kill, killed := in.Kills[g.Client]
	switch {
	case g.InSession():
		end, renews := int64(0), g.Under.Renews
		if c := g.Under.Created; c != nil {
			end = c.Time + c.TTL().Or(ttl)
		}
		return lastRenewed(end, renews, ttl) + slow
	case !g.Granted() && killed:
		return kill + 2*ttl + slow
	case in.Run.Ends == history.EndsSession: // which may be kept off the record
		return history.Forever
	case !g.Granted():
		return in.reached(in.CallEnd(g.Acquire)+ttl, g) + ttl + slow
	case !g.Acquire.Return.TTL().Set || !g.Acquire.Return.Deadline().Set:
		return history.Forever
	}
	return lastRenewed(g.From()+g.Acquire.Return.TTL().V, g.Renews, ttl) + slow
}

// reached is when a request has reached the store at the latest, if it was there by a moment without faults: a server that is
// stopped takes it when it goes on.
func (in question) reached(by int64, g *history.Grant) int64 {
	for _, f := range in.Faults { // in the order in which they struck
		if f.Family == history.FamilyServer && f.Effective() && f.OfServersOf(g) && f.Began() < by {
			by = max(by, f.Span().To)
		}
	}
	return by
}

// lastRenewed carries the latest end of a lease by its renewals.
func lastRenewed(end int64, renews []*history.Call, ttl int64) int64 {
	for _, rn := range renews {
		switch {
		case rn.Outcome() == history.OK:
			end = max(end, rn.End()+rn.Return.TTL().Or(ttl))
		case rn.Outcome() == history.Info && rn.Start() < end:
			end += ttl
		}
	}
	return end
}

// succeeded is when it was known that a grant is over because somebody else has the lock: who
// asked for it when this one had it, or had it for certain when this one was known. An attempt
// is over when somebody was granted the lock who asked when it can no longer have been under
// way.
func (in question) succeeded(byOK []*history.Grant, g *history.Grant) int64 {
	known := in.CallEnd(g.Acquire)
	if !g.Granted() {
		known = in.reached(known+in.Run.TTL, g) + in.Run.TTL
	}
	for _, h := range byOK[facts.AnsweredAt(byOK, known+1):] {
		if h == g || in.Model.Together(g, h) {
			continue
		}
		base, leased := in.ExpiryBase(h)
		if h.Sent() > known || (g.Granted() && (!leased || h.From() < base)) {
			return h.From()
		}
	}
	return history.Forever
}
