package proof

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// state is how far a search has come: the operations that have taken effect, and the grants that hold the lock.
type state struct{ done, held uint64 }

type search struct {
	t    *tale
	ops  []operation
	seen map[state]bool

	best  []int // the longest order so far, of operations that had to take effect
	fixed int   // how many of them
}

// reached notes an order that is longer than all before.
func (q *search) reached(path []int) {
	n := 0
	for _, i := range path {
		if q.ops[i].kind != may {
			n++
		}
	}
	if n > q.fixed {
		q.best, q.fixed = slices.Clone(path), n
	}
}

// from reports whether the rest can take effect in some order. What takes effect next was requested before any of the rest
// was answered; what may be need not be.
func (q *search) from(at state, path []int) bool {
	if q.seen[at] {
		return false
	}
	q.seen[at] = true
	q.reached(path)
	first, left := int64(history.Forever), false
	for i, op := range q.ops {
		if at.done&(1<<i) == 0 && op.kind != may {
			first, left = min(first, op.ret), true
		}
	}
	if !left {
		return true
	}
	for i, op := range q.ops {
		if at.done&(1<<i) != 0 || op.call > first {
			continue
		}
		for _, held := range q.step(at.held, op) {
			if q.from(state{at.done | 1<<i, held}, append(path, i)) {
				return true
			}
		}
	}
	return false
}

// step is who may hold the lock after an operation; nothing where it cannot take effect.
func (q *search) step(held uint64, op operation) []uint64 {
	mine, own := held&(1<<op.grant) != 0, uint64(1)<<op.grant
	switch op.kind {
	case takes:
		for m, o := range q.t.of {
			if held&(1<<m) != 0 && (!q.t.s.Model.Shares() || !q.t.s.Model.Together(o, q.t.of[op.grant])) {
				return nil
			}
		}
		return []uint64{held | own}
	case frees:
		if mine {
			return []uint64{held &^ own}
		}
		return q.ofOwner(held, op)
	case renews:
		if mine || (q.t.s.Model.Counts() && held != 0 && len(q.ofOwner(held, op)) > 0) {
			return []uint64{held}
		}
		return nil
	case notHeld:
		if mine {
			return nil
		}
		return []uint64{held}
	}
	return []uint64{held &^ own}
}

// ofOwner is what a release leaves that gives back another grant of its owner: of a counted lock, which one it is does not
// matter.
func (q *search) ofOwner(held uint64, op operation) (out []uint64) {
	if !q.t.s.Model.Counts() {
		return nil
	}
	for m, o := range q.t.of {
		if held&(1<<m) != 0 && history.SameOwner(o, q.t.of[op.grant]) {
			out = append(out, held&^(1<<m))
		}
	}
	return out
}
