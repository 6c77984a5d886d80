package lin

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/history"
)

// holds is a set of grants that hold a lock: their numbers in order, four bytes each. A
// string, so that it can be compared and is never changed.
type holds string

const numberSize = 4

func (h holds) len() int { return len(h) / numberSize }

func (h holds) at(i int) int {
	return int(binary.BigEndian.Uint32([]byte(h[i*numberSize : (i+1)*numberSize])))
}

// find is the place of a number, or where it would stand.
func (h holds) find(n int) (int, bool) {
	i := 0
	for i < h.len() && h.at(i) < n {
		i++
	}
	return i, i < h.len() && h.at(i) == n
}

func (h holds) has(n int) bool {
	_, ok := h.find(n)
	return ok
}

func (h holds) with(n int) holds {
	i, ok := h.find(n)
	if ok {
		return h
	}
	var b [numberSize]byte
	binary.BigEndian.PutUint32(b[:], uint32(n))
	return h[:i*numberSize] + holds(b[:]) + h[i*numberSize:]
}

func (h holds) without(n int) holds {
	i, ok := h.find(n)
	if !ok {
		return h
	}
	return h[:i*numberSize] + h[(i+1)*numberSize:]
}

var seed = maphash.MakeSeed()

// admits reports whether a grant may be held beside all those of a set.
func admits(m history.Model, grants []*history.Grant, h holds, n int) bool {
	for i := range h.len() {
		if !m.Together(grants[h.at(i)], grants[n]) {
			return false
		}
	}
	return true
}

// sharedModel is a lock that several grants may hold, if the model says so; the store knows each of them.
func sharedModel(m history.Model, grants []*history.Grant) porcupine.Model {
	step := func(h holds, op *Op) (bool, holds) {
		switch op.Kind {
		case Acquire:
			return admits(m, grants, h, op.Grant), h.with(op.Grant)
		case Release:
			return h.has(op.Grant), h.without(op.Grant)
		case Renew:
			return h.has(op.Grant), h
		case NotHeld:
			return !h.has(op.Grant), h
		default: // May
			return true, h.without(op.Grant)
		}
	}
	return porcupine.Model{
		Init:              func() any { return holds("") },
		StepContext:       stepper(step),
		Equal:             func(a, b any) bool { return a.(holds) == b.(holds) },
		Hash:              func(s any) uint64 { return maphash.String(seed, string(s.(holds))) },
		DescribeOperation: describe,
	}
}
