package object

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker/internal/lin"
	"github.com/lockstorm/lockstorm/history"
)

// lockGrant is a grant of one lock, prepared: its operations, and until when its end
// can matter.
type lockGrant struct {
	g      *history.Grant
	number int
	ops    []lin.Op        // what certainly took effect
	mays   []mayEnd        // what may have ended it otherwise
	from   int64           // the acquire's call
	ok     int64           // the acquire's return
	ghost  bool            // of a counted lock: nobody knows whether it was granted
	gone   []*history.Call // renewals of its session that were refused
	ended  int64           // by then its own operations show that it is over; Forever if they do not
	some   [2]mayEnd       // what mays is at first
}

// preparation holds the grants of one lock after the other, in the same memory.
type preparation struct {
	grants []lockGrant
	ops    []lin.Op
}

// mayEnd is from when on something may have ended a grant. Where the store counts, an expiry
// is one of the lease as it was after some renewals: see [lin.Op].
type mayEnd struct {
	from  int64
	level int
}

// lock turns the grants of a lock into operations, without loss and without
// narrowing:
//
//   - the acquire's interval is [sent, ok]: a wait is not part of it;
//   - a refused acquire is dropped (refusals may be spurious: quorum locks);
//   - an acquire of unknown outcome is dropped unless a release or a renewal of it
//     succeeded later: a grant that nobody believes in can only stand in the way;
//   - an unknown release, an expiry (from sent + ttl of the acquire or the last renewal,
//     minus the tolerance) and a death are optional releases. They end when they can no
//     longer matter: at the return of the first later operation that shows the grant to
//     be over, which is the grant's own release or refusal, or a grant that cannot be held
//     beside it and was sent for after this one was known;
//   - a renewal of a session says that the session lived, not that its grants were held.
func (p *preparation) lock(in question, lock string) []lockGrant {
	all := in.ByLock[lock]
	p.grants, p.ops = slices.Grow(p.grants[:0], len(all)), p.ops[:0]
	p.ops = slices.Grow(p.ops, p.room(all))
	for _, g := range all {
		if lg, ok := in.acquireOp(g, len(p.grants)); ok {
			p.grants = append(p.grants, lg)
		}
	}
	for i := range p.grants {
		lg := &p.grants[i]
		room := roomFor(lg.g)
		first := len(p.ops)
		p.ops = p.ops[:first+room]
		lg.ops, lg.mays = p.ops[first:first:first+room], lg.some[:0]
		if !lg.ghost {
			lg.add(lin.Acquire, lg.from, lg.ok)
		}
		in.endOps(lg)
	}
	if in.Model.Counts() {
		in.countOwners(lock, p.grants)
	}
	return p.grants
}

// room is how many operations grants have at most, what their sessions say not counted.
func (p *preparation) room(grants []*history.Grant) int {
	n := 0
	for _, g := range grants {
		n += roomFor(g)
	}
	return n
}

func roomFor(g *history.Grant) int { return 1 + len(g.Renews) + len(g.Releases) }

// all appends all operations of a grant, those that are optional without an end.
func (lg *lockGrant) all(ops []lin.Op) []lin.Op {
	ops = append(ops, lg.ops...)
	for _, may := range lg.mays {
		ops = append(ops, lin.Op{Kind: lin.May, Grant: lg.number, ID: lg.g.ID, Call: may.from, Ret: history.Forever, Level: may.level})
	}
	return ops
}

// lockOps is all operations of some grants of a lock, the optional ones included. Which
// later grant ends an optional release depends on which grants are looked at.
func lockOps(m history.Model, grants []*lockGrant) []lin.Op {
	byOK := sortedByOK(grants)
	var ops []lin.Op
	for _, lg := range grants {
		ops = append(ops, lg.ops...)
		for _, may := range lg.mays {
			if over := lg.over(m, byOK, may.from); may.from <= over {
				ops = append(ops, lin.Op{Kind: lin.May, Grant: lg.number, ID: lg.g.ID, Call: may.from, Ret: over, Level: may.level})
			}
		}
	}
	return ops
}

// answered are the grants that were made for certain, in order of their answers.
type answered struct {
	grants []*lockGrant
	latest []int64 // of each block of them, the request that was sent last
}

// blockSize is how many grants are passed over at once.
const blockSize = 64

// byFrom orders grants by their requests; equal ones stay in the order of the record.
func byFrom(a, b *lockGrant) int { return cmp.Or(cmp.Compare(a.from, b.from), a.number-b.number) }

func sortedByOK(grants []*lockGrant) answered {
	byOK := slices.DeleteFunc(slices.Clone(grants), func(lg *lockGrant) bool { return lg.ghost })
	slices.SortFunc(byOK, func(a, b *lockGrant) int { return cmp.Compare(a.ok, b.ok) })
	a := answered{grants: byOK, latest: make([]int64, len(byOK)/blockSize+1)}
	for i, lg := range byOK {
		a.latest[i/blockSize] = max(a.latest[i/blockSize], lg.from)
	}
	return a
}

// next is the first of them from place i on that was sent for after a moment.
func (a answered) next(i int, moment int64) int {
	for i < len(a.grants) && a.grants[i].from <= moment {
		if i++; i%blockSize == 0 {
			for i < len(a.grants) && a.latest[i/blockSize] <= moment {
				i += blockSize
			}
		}
	}
	return min(i, len(a.grants))
}

// acquireOp begins a grant; not ok: it can only stand in the way.
func (in question) acquireOp(g *history.Grant, number int) (lg lockGrant, ok bool) {
	if g.Acquire == nil {
		return lg, false
	}
	lg = lockGrant{g: g, number: number, from: g.Sent(), ended: history.Forever}
	switch {
	case g.Granted():
		lg.ok = g.From()
	case g.Acquire.Outcome() == history.Info && in.Model.Counts():
		lg.ok, lg.ghost = lg.from, true
		return lg, true // what it got cannot be told from what its owner has otherwise
	case g.Acquire.Outcome() == history.Info:
		if lg.ok, ok = firstSign(g); !ok {
			return lg, false
		}
	default:
		return lg, false
	}
	lg.from = min(lg.from, lg.ok)
	return lg, true
}

func (lg *lockGrant) add(kind lin.Kind, call, ret int64) {
	lg.ops = append(lg.ops, lin.Op{Kind: kind, Grant: lg.number, ID: lg.g.ID, Call: call, Ret: ret})
}

// firstSign is the return of the first operation that shows that a grant of unknown
// outcome was held.
func firstSign(g *history.Grant) (int64, bool) {
	sign, found := int64(history.Forever), false
	for _, calls := range [][]*history.Call{g.Renews, g.Releases} {
		for _, c := range calls {
			if c.Outcome() == history.OK && c.End() < sign {
				sign, found = c.End(), true
			}
		}
	}
	return sign, found
}

// endOps adds everything that ends the grant, or shows that it has ended.
func (in question) endOps(lg *lockGrant) {
	base, leased := in.ExpiryBase(lg.g)
	level := 0
	for _, rn := range lg.g.Renews {
		switch {
		case rn.Outcome() == history.OK:
			lg.add(lin.Renew, rn.Start(), rn.End())
			level++
			lg.ops[len(lg.ops)-1].Level = level
		case rn.NotHeld():
			lg.refused(rn)
		}
	}
	released := int64(history.Forever)
	for _, rel := range lg.g.Releases {
		switch {
		case rel.Outcome() == history.OK:
			lg.add(lin.Release, rel.Start(), rel.End())
			lg.ended = min(lg.ended, rel.End())
			released = min(released, rel.End())
		case rel.NotHeld():
			lg.refused(rel)
		case rel.Outcome() == history.Info:
			lg.may(rel.Start())
		}
	}
	if lg.g.InSession() {
		for _, rn := range lg.g.Under.Refused() {
			if rn.End() >= lg.from && rn.Start() <= released { // else it says nothing new
				lg.refused(rn)
				lg.gone = append(lg.gone, rn)
			}
		}
	}
	if leased {
		lg.may(base)
	}
	if freed := in.Freed(lg.g); freed != history.Forever {
		lg.may(freed)
	}
}

// may adds something that may have ended the grant, whatever its renewals.
func (lg *lockGrant) may(from int64) { lg.mays = append(lg.mays, mayEnd{from, math.MaxInt}) }

// refused adds what the store says of the holder. It shows that the grant is over only
// where the grant was certainly made before: an acquire of unknown outcome may follow.
func (lg *lockGrant) refused(c *history.Call) {
	lg.add(lin.NotHeld, c.Start(), lg.saidBy(c))
	if c.Start() > lg.ok {
		lg.ended = min(lg.ended, lg.saidBy(c))
	}
}

// saidBy is when the store had said something at the latest: before a release of the grant that its
// party logged after the answer, also where both have one time. The order in a log is certain.
func (lg *lockGrant) saidBy(c *history.Call) int64 {
	for _, rel := range lg.g.Releases {
		asked, said := rel.Invoke, c.Return
		if asked.Time == said.Time && asked.Party() == said.Party() && asked.Index > said.Index && c.Start() < c.End() {
			return c.End() - 1
		}
	}
	return c.End()
}

// over is when the grant is shown to be over: by its own operations, or by the return of
// the first grant that returned at or after the moment, was sent for after this one was
// known, and cannot be held beside it. Forever where nothing shows it.
func (lg *lockGrant) over(m history.Model, byOK answered, moment int64) int64 {
	shares := m.Shares()
	i := sort.Search(len(byOK.grants), func(i int) bool { return byOK.grants[i].ok >= moment })
	for i = byOK.next(i, lg.ok); i < len(byOK.grants) && byOK.grants[i].ok < lg.ended; i = byOK.next(i+1, lg.ok) {
		if o := byOK.grants[i]; !shares || !m.Together(lg.g, o.g) {
			return o.ok
		}
	}
	return lg.ended
}

// open is until when the grant may matter to others.
func (lg *lockGrant) open(m history.Model, byOK answered) int64 {
	open := lg.over(m, byOK, lg.ok)
	for _, op := range lg.ops {
		open = max(open, op.Ret)
	}
	return open
}
