package checker_test

import (
	"github.com/lockstorm/lockstorm/checker/internal/lin"
	"github.com/lockstorm/lockstorm/history"
)

// together says in the words of the contract which grants may be held at once.
func (r gridRun) together(i, k int) bool {
	a, b := r.grants[i], r.grants[k]
	mine := a.client == b.client && a.owner == b.owner
	switch r.model.Kind {
	case history.ModelReadWrite:
		return mine || (a.shared && b.shared)
	case history.ModelReentrant:
		return mine
	default:
		return false
	}
}

// bruteOp is an operation of the brute-force judge: it must (or may) take effect at one
// grid time of its interval.
type bruteOp struct {
	kind      lin.Kind
	grant     int
	from, to  int64
	optional  bool
	loose     bool  // of a counted lock: no evidence, see unknown
	leaseFrom int64 // of acquire and renew: the base from which the lease counts
}

// longAgo is a base from which every lease has run out.
const longAgo = -1000

// brute decides linearizability by trying everything: at each time, any order of the
// operations that may take effect then, and any expiry. It shares no code with the
// checker: no closing of intervals, no cutting, no Porcupine.
type brute struct {
	run  gridRun
	ops  []bruteOp
	seen map[bruteState]bool
}

// bruteState is what is done at a time, who holds, and from when each lease counts.
type bruteState struct {
	t    int64
	done uint64
	held [4]bool
	base [4]int64
}

func (r gridRun) linearizable() bool {
	b := &brute{run: r, seen: map[bruteState]bool{}}
	for i, g := range r.grants {
		b.addGrant(i, g)
	}
	for i, op := range b.ops {
		if r.model.Kind == history.ModelReentrant {
			acquire, _ := r.unknown(op.grant)
			b.ops[i].loose = op.to >= acquire
		}
	}
	return b.try(bruteState{})
}

func (b *brute) addGrant(i int, g gridGrant) {
	switch {
	case g.outcome == history.Fail:
		return
	case g.outcome == history.OK:
		b.ops = append(b.ops, bruteOp{kind: lin.Acquire, grant: i, from: g.sent, to: g.ok, leaseFrom: g.sent})
	case b.run.model.Kind != history.ModelReentrant:
		// Unknown: its lease cannot be known, so it may expire at any time.
		b.ops = append(b.ops, bruteOp{
			kind: lin.Acquire, grant: i, from: g.invoke, to: history.Forever, optional: true,
			leaseFrom: longAgo,
		})
	}
	for _, c := range g.renews {
		if g.outcome == history.OK || b.run.model.Kind != history.ModelReentrant {
			b.addCall(i, lin.Renew, c)
		}
	}
	counted := b.run.model.Kind == history.ModelReentrant
	if r := g.release; r != nil && (!counted || r.outcome == history.OK || g.outcome == history.OK) {
		b.addCall(i, lin.Release, g.release)
	}
	if s := b.run.sessions[g.client]; s != nil {
		for _, c := range s.renews {
			if c.outcome == history.Fail { // the session is gone, and its grants with it
				b.addCall(i, lin.NotHeld, c)
			}
		}
	}
}

func (b *brute) addCall(i int, kind lin.Kind, c *gridCall) {
	op := bruteOp{kind: kind, grant: i, from: c.call, to: c.ret, leaseFrom: c.call}
	switch c.outcome {
	case history.Fail:
		op.kind = lin.NotHeld
	case history.Info:
		op.to, op.optional = history.Forever, true
		op.leaseFrom = longAgo // a renewal may have had no effect: never to the lock's harm
	}
	b.ops = append(b.ops, op)
}

// try explores from a state.
func (b *brute) try(s bruteState) bool {
	if s.t > gridEnd+1 {
		return true
	}
	if b.seen[s] {
		return false
	}
	b.seen[s] = true
	for i, op := range b.ops {
		bit := uint64(1) << i
		if s.done&bit != 0 || s.t < op.from || s.t > op.to {
			continue
		}
		for _, next := range b.apply(s, op) {
			next.done |= bit
			if b.try(next) {
				return true
			}
		}
	}
	for i := range b.run.grants {
		if s.held[i] && (b.mayEnd(i, s) || b.run.mayBeGiven(i, s.t)) {
			next := s
			next.held[i], next.base[i] = false, 0
			if b.try(next) {
				return true
			}
		}
	}
	for i, op := range b.ops {
		if !op.optional && op.to == s.t && s.done&(1<<i) == 0 {
			return false // it had to take effect by now
		}
	}
	s.t++
	return b.try(s)
}

// apply is every state that an operation can lead to; none where it is not legal.
func (b *brute) apply(s bruteState, op bruteOp) []bruteState {
	g := op.grant
	counted := b.run.model.Kind == history.ModelReentrant
	drop := func(i int) bruteState {
		next := s
		next.held[i], next.base[i] = false, 0
		return next
	}
	switch op.kind {
	case lin.Acquire:
		for i := range b.run.grants {
			if s.held[i] && !b.run.together(i, g) {
				return nil
			}
		}
		s.held[g], s.base[g] = true, op.leaseFrom
		return []bruteState{s}
	case lin.Release:
		if s.held[g] {
			return []bruteState{drop(g)}
		}
		var out []bruteState
		for i := range b.run.grants {
			if counted && s.held[i] && b.run.together(i, g) { // the store counts: it takes one of the owner's
				out = append(out, drop(i))
			}
		}
		if op.loose {
			out = append(out, s)
		}
		return out
	case lin.Renew:
		if s.held[g] {
			s.base[g] = max(s.base[g], op.leaseFrom)
			return []bruteState{s}
		}
		for i := range b.run.grants {
			if counted && s.held[i] && b.run.together(i, g) {
				return []bruteState{s}
			}
		}
		if op.loose {
			return []bruteState{s}
		}
		return nil
	default:
		if s.held[g] {
			return nil
		}
		return []bruteState{s}
	}
}

func (b *brute) mayEnd(i int, s bruteState) bool {
	g := b.run.grants[i]
	switch b.run.ends {
	case history.EndsLease:
		return s.t >= s.base[i]+b.run.ttl-b.run.tolerance
	case history.EndsSession:
		return s.t >= b.run.sessionBase(g.client)+b.run.ttl-b.run.tolerance
	case history.EndsProcess:
		if at := b.run.kills[g.client]; at > 0 {
			return s.t >= at
		}
		return s.t >= b.run.lastEvent(g.client)
	}
	return false
}

// unknown is since when the owner of a grant has an acquire of unknown outcome, and a
// release of unknown outcome: Forever where there is none.
func (r gridRun) unknown(i int) (acquire, release int64) {
	acquire, release = history.Forever, history.Forever
	for k, g := range r.grants {
		if !r.together(i, k) || g.outcome == history.Fail {
			continue
		}
		if g.outcome == history.Info {
			acquire = min(acquire, g.invoke)
		}
		if g.release != nil && g.release.outcome == history.Info {
			release = min(release, g.release.call)
		}
	}
	return acquire, release
}

// mayBeGiven reports whether a counted grant may have been given back by a release of its
// owner that came late: the store counts, and does not know for which of them it was.
func (r gridRun) mayBeGiven(i int, t int64) bool {
	_, release := r.unknown(i)
	return r.model.Kind == history.ModelReentrant && t >= release
}

// sessionBase is the last moment at which a session is known to have been renewed: it was
// alive until then, and acquiring has not renewed it.
func (r gridRun) sessionBase(client int) int64 {
	base := r.sessions[client].created
	for _, c := range r.sessions[client].renews {
		if c.outcome == history.OK {
			base = max(base, c.call)
		}
	}
	return base
}

// lastEvent is the last event in the log of a client; 0 where it has none.
func (r gridRun) lastEvent(client int) int64 {
	last := int64(0)
	for _, g := range r.grants {
		if g.client != client {
			continue
		}
		last = max(last, g.ok, g.lost)
		for _, u := range g.uses {
			last = max(last, u)
		}
		for _, c := range g.renews {
			last = max(last, c.ret)
		}
		if g.release != nil {
			last = max(last, g.release.ret)
		}
	}
	if s := r.sessions[client]; s != nil {
		last = max(last, s.created, s.lost)
		for _, c := range s.renews {
			last = max(last, c.ret)
		}
	}
	return last
}
