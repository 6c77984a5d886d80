package lin

import (
	"cmp"
	"slices"
)

// item is an operation at its moment. At one time operations come in order of their stage;
// a grant that is held for no time goes through all of its own at once.
type item struct {
	at    int64
	stage stage
	step  uint8 // within a grant: acquire, renew, end
	grant int32
	op    int32
}

type stage uint8

const (
	renewing  stage = iota // of what is held already
	giving                 // the end of a span
	denying                // says that something is not held, or has no effect
	passing                // all of a grant that is held for no time
	taking                 // the beginning of a span
	refreshed              // a renewal where its span begins
)

func compareItems(a, b item) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.stage, b.stage), cmp.Compare(a.grant, b.grant), cmp.Compare(a.step, b.step))
}

// Order is the certificate of a lock that [Sweep.Judge] has found legal with all its grants:
// the operations, by their place in ops, in an order in which they can have taken effect. What
// may be (May) is in it where it is needed. The operations of each grant stand together in
// ops, as they were told to [Sweep.Grant].
func (s *Sweep) Order(ops []Op) []int {
	s.items = s.items[:0]
	for i := 0; i < len(ops); {
		k := i + 1
		for k < len(ops) && ops[k].Grant == ops[i].Grant {
			k++
		}
		s.place(ops[i:k], i)
		i = k
	}
	slices.SortFunc(s.items, compareItems)
	out := make([]int, len(s.items))
	for i := range s.items {
		out[i] = int(s.items[i].op)
	}
	return out
}

// place gives the operations of one grant, which begin at first, their moments.
func (s *Sweep) place(ops []Op, first int) {
	h := &s.holds[ops[0].Grant]
	for i := range ops {
		op := &ops[i]
		if op.Kind == May && int32(i) != h.end {
			continue
		}
		it := h.item(op)
		it.grant, it.op = int32(op.Grant), int32(first+i)
		s.items = append(s.items, it)
	}
}

func (h *hold) item(op *Op) item {
	switch {
	case h.kind == nothing:
		return item{at: op.Call, stage: denying}
	case h.denies(op):
		return h.denial(op)
	case op.Kind == Renew && !op.binds(h.free):
		return h.idle(op)
	case h.kind == moment:
		return item{at: h.at, stage: passing, step: map[Kind]uint8{Renew: 1, Release: 2, May: 2}[op.Kind]}
	case op.Kind == Acquire:
		return item{at: h.take, stage: taking}
	case op.Kind != Renew:
		return item{at: h.give, stage: giving}
	case op.Call <= h.take:
		return item{at: h.take, stage: refreshed}
	default:
		return item{at: op.Call, stage: renewing}
	}
}

// denial is when the store can have said that the grant is not held: before it was, else
// after it.
func (h *hold) denial(op *Op) item {
	begin, end := h.take, h.give
	if h.kind == moment {
		begin, end = h.at, h.at
	}
	if op.Call <= begin {
		return item{at: op.Call, stage: denying}
	}
	return item{at: max(op.Call, end), stage: denying}
}

// idle is a renewal that may be of another grant: it has no effect, whenever it is.
func (h *hold) idle(op *Op) item {
	if h.kind == span && op.Call > h.take && op.Call < h.give {
		return item{at: op.Call, stage: renewing}
	}
	return item{at: op.Call, stage: denying}
}
