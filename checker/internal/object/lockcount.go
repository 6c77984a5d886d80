package object

import (
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/checker/internal/lin"
	"github.com/lockstorm/lockstorm/history"
)

// unknowns are from when on an owner has requests of unknown outcome.
type unknowns struct{ acquire, release int64 }

// countOwners prepares what is different where the store sees only the owner and a count:
//
//   - an acquire of unknown outcome may have got one more: what is released or renewed from
//     then on says nothing about the grants that are known;
//   - a release of unknown outcome may be carried out at any later time, on whatever the owner
//     holds then, and more than once, since libraries send again what was not answered: from
//     then on its grants may end at any time. So may one of an attempt that was refused;
//   - a renewal is of the grant only if the grant was held then: so every state of its lease
//     is an expiry of its own.
func (in question) countOwners(lock string, grants []lockGrant) {
	byOwner := in.unknownsOf(lock)
	for n := range grants {
		lg := &grants[n]
		u := byOwner[facts.OwnerOf(lg.g)]
		for i := range lg.ops {
			op := &lg.ops[i]
			op.Loose = (op.Kind == lin.Release || op.Kind == lin.Renew) && op.Ret >= u.acquire
		}
		if lg.ghost {
			in.nothingOf(lg)
			continue
		}
		if u.release < history.Forever {
			lg.may(max(lg.from, u.release))
		}
		in.expireByLevel(lg)
	}
}

// unknownsOf are those of the owners of a lock's grants and attempts.
func (in question) unknownsOf(lock string) map[facts.Owner]unknowns {
	out := map[facts.Owner]unknowns{}
	for _, g := range in.ByLock[lock] {
		if g.Acquire == nil {
			continue
		}
		u, known := out[facts.OwnerOf(g)]
		if !known {
			u = unknowns{acquire: history.Forever, release: history.Forever}
		}
		if g.Acquire.Outcome() == history.Info {
			u.acquire = min(u.acquire, g.Acquire.Start())
		}
		for _, rel := range g.Releases {
			if rel.Outcome() == history.Info {
				u.release = min(u.release, rel.Start())
			}
		}
		out[facts.OwnerOf(g)] = u
	}
	return out
}

// nothingOf leaves of a grant of unknown outcome only what its releases may have given back.
func (in question) nothingOf(lg *lockGrant) {
	var kept []lin.Op
	lg.mays, lg.ended = nil, lg.from
	for _, op := range lg.ops {
		if op.Kind == lin.Release {
			kept = append(kept, op)
			lg.ended = max(lg.ended, op.Ret)
		}
	}
	lg.ops, lg.ok = kept, lg.ended
}

// expireByLevel adds the expiries of a lease that was renewed: each from when the lease
// would run out had no later renewal been applied. The last one is there already.
func (in question) expireByLevel(lg *lockGrant) {
	if !in.Leased() || lg.g.InSession() {
		return
	}
	acked := 0
	for i, rn := range lg.g.Renews {
		if rn.Outcome() == history.OK {
			before := *lg.g
			before.Renews = lg.g.Renews[:i]
			lg.mays = append(lg.mays, mayEnd{before.RunsOut(in.Run.Tolerance), acked})
			acked++
		}
	}
}
