package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// timedOp is an operation with the closed interval in which it took effect.
type timedOp struct {
	lockOp
	call, ret int64
}

// lockGrant is a grant of one lock, prepared: its operations, and until when its end
// can matter.
type lockGrant struct {
	g     *history.Grant
	ops   []timedOp // what certainly took effect
	mays  []int64   // from when on it may have ended otherwise
	from  int64     // the acquire's call
	ok    int64     // the acquire's return
	ended int64     // by then its own operations show that it is over; Forever if they do not
}

// prepareLock turns the grants of a lock into operations, without loss and without
// narrowing:
//
//   - the acquire's interval is [sent, ok]: a wait is not part of it;
//   - a refused acquire is dropped (refusals may be spurious: quorum locks);
//   - an acquire of unknown outcome is dropped unless a release or a renewal of it
//     succeeded later: a grant that nobody believes in can only stand in the way;
//   - an unknown release, an expiry (from sent + ttl of the acquire or the last renewal,
//     minus the tolerance) and a death are optional releases. They end when they can no
//     longer matter: at the return of the first later operation that shows the grant to
//     be over, which is the grant's own release or refusal, or a grant that was sent for
//     after this one was known.
func (in *Input) prepareLock(lock string) []*lockGrant {
	var out []*lockGrant
	for _, g := range in.ByLock[lock] {
		if lg := in.acquireOp(g, len(out)); lg != nil {
			out = append(out, lg)
		}
	}
	for _, lg := range out {
		in.endOps(lg)
	}
	return out
}

// lockOps is all operations of some grants of a lock, the optional ones included. Which
// later grant ends an optional release depends on which grants are looked at.
func lockOps(grants []*lockGrant) []timedOp {
	byOK := sortedByOK(grants)
	var ops []timedOp
	for _, lg := range grants {
		ops = append(ops, lg.ops...)
		for _, from := range lg.mays {
			if over := min(lg.ended, laterGrant(byOK, lg, from)); from <= over {
				ops = append(ops, timedOp{lockOp{opMay, lg.ops[0].grant, lg.g.ID}, from, over})
			}
		}
	}
	return ops
}

func sortedByOK(grants []*lockGrant) []*lockGrant {
	byOK := slices.Clone(grants)
	slices.SortFunc(byOK, func(a, b *lockGrant) int { return cmp.Compare(a.ok, b.ok) })
	return byOK
}

func (in *Input) acquireOp(g *history.Grant, number int) *lockGrant {
	if g.Acquire == nil {
		return nil
	}
	lg := &lockGrant{g: g, from: g.Sent(), ended: history.Forever}
	switch {
	case g.Granted():
		lg.ok = g.From()
	case g.Acquire.Outcome() == history.Info:
		sign, ok := firstSign(g)
		if !ok {
			return nil
		}
		lg.ok = sign
	default:
		return nil
	}
	lg.from = min(lg.from, lg.ok)
	lg.add(opAcquire, number, lg.from, lg.ok)
	return lg
}

func (lg *lockGrant) add(kind opKind, number int, call, ret int64) {
	lg.ops = append(lg.ops, timedOp{lockOp{kind, number, lg.g.ID}, call, ret})
}

// firstSign is the return of the first operation that shows that a grant of unknown
// outcome was held.
func firstSign(g *history.Grant) (int64, bool) {
	sign, found := int64(history.Forever), false
	for _, c := range slices.Concat(g.Renews, g.Releases) {
		if c.Outcome() == history.OK && c.End() < sign {
			sign, found = c.End(), true
		}
	}
	return sign, found
}

// endOps adds everything that ends the grant, or shows that it has ended.
func (in *Input) endOps(lg *lockGrant) {
	number := lg.ops[0].grant
	base, leased := in.expiryBase(lg.g)
	for _, rn := range lg.g.Renews {
		switch {
		case rn.Outcome() == history.OK:
			lg.add(opRenew, number, rn.Start(), rn.End())
		case isNotHeld(rn):
			lg.refused(number, rn)
		}
	}
	for _, rel := range lg.g.Releases {
		switch {
		case rel.Outcome() == history.OK:
			lg.add(opRelease, number, rel.Start(), rel.End())
			lg.ended = min(lg.ended, rel.End())
		case isNotHeld(rel):
			lg.refused(number, rel)
		case rel.Outcome() == history.Info:
			lg.mays = append(lg.mays, rel.Start())
		}
	}
	if leased {
		lg.mays = append(lg.mays, base)
	}
	if freed := in.Freed(lg.g); freed != history.Forever {
		lg.mays = append(lg.mays, freed)
	}
}

// refused adds what the store says of the holder. It shows that the grant is over only
// where the grant was certainly made before: an acquire of unknown outcome may follow.
func (lg *lockGrant) refused(number int, c *history.Call) {
	lg.add(opNotHeld, number, c.Start(), c.End())
	if c.Start() >= lg.ok {
		lg.ended = min(lg.ended, c.End())
	}
}

func isNotHeld(c *history.Call) bool {
	return c.Outcome() == history.Fail && c.Return.Error == history.ErrNotHeld
}

// expiryBase is the moment from which the store may let the grant expire: sent + ttl of
// the acquire or of the last renewal that is known to have been applied, minus the
// tolerance. A lease whose times are not on record may expire at any time after that.
func (in *Input) expiryBase(g *history.Grant) (int64, bool) {
	if !in.Leased() {
		return 0, false
	}
	return g.RunsOut(in.Run.Tolerance), true
}

// laterGrant is the return of the first grant that returned at or after the moment and
// was sent for after lg was known: by then lg is over.
func laterGrant(byOK []*lockGrant, lg *lockGrant, moment int64) int64 {
	i := sort.Search(len(byOK), func(i int) bool { return byOK[i].ok >= moment })
	for ; i < len(byOK); i++ {
		if byOK[i].from > lg.ok {
			return byOK[i].ok
		}
	}
	return history.Forever
}

// pieceSize is how many operations are judged together at least, where there are
// quiet points.
const pieceSize = 64

// pieces cuts the grants of a lock where nothing is open and every earlier grant is
// certainly over: there the lock is free, so the pieces can be judged apart, exactly.
func pieces(grants []*lockGrant, size int) [][]*lockGrant {
	slices.SortFunc(grants, func(a, b *lockGrant) int { return cmp.Compare(a.from, b.from) })
	byOK := sortedByOK(grants)
	var out [][]*lockGrant
	var piece []*lockGrant
	var open int64
	ops := 0
	for _, lg := range grants {
		if ops >= size && lg.from > open {
			out = append(out, piece)
			piece, ops = nil, 0
		}
		piece = append(piece, lg)
		ops += len(lg.ops) + len(lg.mays)
		open = max(open, min(lg.ended, laterGrant(byOK, lg, lg.ok)))
		for _, op := range lg.ops {
			open = max(open, op.ret)
		}
	}
	if len(piece) > 0 {
		out = append(out, piece)
	}
	return out
}
