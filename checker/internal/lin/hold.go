package lin

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// hold is a grant as the sweep sees it: the least that it must be held for. It is taken as
// late as its operations allow and given back as early. Every other order of them holds it
// longer, so where these holds fit together the operations do, and where they do not,
// nothing does.
//
//	      |-- acquire --|take
//	                  |-- renew --|
//	                        give|-- release --|
//	held:               |=======|
//
// Where give is not after take, all of its operations have moments in common, and it is held
// for no time at one of them.
type hold struct {
	take, give int64 // give: Forever where nothing ends it
	at         int64 // where it is held for no time, once it has its moment
	end        int32 // the operation that gives it back, among its own; none: -1
	kind       holdKind
	free       bool // of a counted lock: loose operations have no effect
}

type holdKind uint8

const (
	nothing holdKind = iota // says nothing of what is held
	span                    // held in [take, give]
	moment                  // held for no time, at a moment of [give, take]
	flawed                  // its own operations cannot have taken effect
)

// measure makes the hold of the operations of one grant. Where the lock counts, flawed says
// only that they need what another grant of the owner holds. There an operation that is loose
// need not be about this grant, if that may have ended otherwise.
func measure(ops []Op) hold {
	bound := bind(ops, false)
	if !slices.ContainsFunc(ops, func(op Op) bool { return op.Loose }) {
		return bound
	}
	free := bind(ops, true)
	if free.kind != flawed && free.end >= 0 && (bound.kind == flawed || free.give <= bound.give) {
		return free
	}
	return bound
}

// binds reports whether a hold with an operation must be there when it takes effect.
func (op *Op) binds(free bool) bool {
	switch op.Kind {
	case Acquire:
		return true
	case Release, Renew:
		return !free || !op.Loose
	}
	return false
}

func bind(ops []Op, free bool) hold {
	h := hold{take: history.Forever, give: -history.Forever, end: -1, free: free}
	from, until, acquires, releases := int64(0), int64(history.Forever), 0, 0
	vain, level := true, 0 // vain: nothing says that it was held at all
	for i := range ops {
		op := &ops[i]
		if op.Kind == Renew {
			level = max(level, op.Level)
		}
		if !op.binds(free) {
			continue
		}
		switch op.Kind {
		case Acquire:
			acquires++
			from = op.Call
		case Release:
			releases++
			until, h.end = op.Ret, int32(i)
		}
		vain = vain && op.Loose && op.Kind != Acquire
		h.take, h.give = min(h.take, op.Ret), max(h.give, op.Call)
	}
	switch {
	case acquires == 0 && vain:
		return hold{end: -1}
	case acquires != 1 || releases > 1 || h.take < from:
		h.kind = flawed
		return h
	}
	if releases == 0 {
		h.endEarly(ops, level)
	}
	switch {
	case h.give > until:
		h.kind = flawed
	case h.give <= h.take:
		h.kind = moment
	case h.denied(ops):
		h.kind = flawed
	default:
		h.kind = span
	}
	return h
}

// endEarly ends a hold that nobody released: by what may have ended it first, if anything.
func (h *hold) endEarly(ops []Op, level int) {
	give := int64(history.Forever)
	for i := range ops {
		if op := &ops[i]; op.Kind == May && op.Level >= level && (h.end < 0 || op.Call < give) {
			give, h.end = op.Call, int32(i)
		}
	}
	h.give = max(h.give, give)
}

// denies reports whether an operation can take effect only where the grant is not held.
func (h *hold) denies(op *Op) bool {
	return op.Kind == NotHeld || (op.Kind == Release && !op.binds(h.free))
}

// denied reports whether the store said inside the span that the grant is not held. At a
// moment it can say so just before or after.
func (h *hold) denied(ops []Op) bool {
	for i := range ops {
		if op := &ops[i]; h.denies(op) && op.Call > h.take && op.Ret < h.give {
			return true
		}
	}
	return false
}
