package lin

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Sweep decides in one pass over the holds of a lock, sorted by time, whether its operations
// can have taken effect one after the other. It is exact for an exclusive and for a read-write
// lock. Of a counted lock a release may give back another grant of its owner; there only
// [Legal] is certain, and what it has no order for is left to [For].
//
// Two holds with a length meet or do not, whatever the others do. A hold of no length needs
// one moment at which all who hold admit it; where it is blocked it waits until they do.
type Sweep struct {
	model   history.Model
	grants  []*history.Grant
	sides   []side
	holds   []hold
	crowd   crowd
	events  []event
	items   []item
	waiting waiting
}

// Exact reports whether [Illegal] is certain, too.
func (s *Sweep) Exact() bool { return !s.model.Counts() }

// Reset prepares for another lock: the grants are those that operations name by number. What
// was allocated is used again.
func (s *Sweep) Reset(m history.Model, grants []*history.Grant) {
	s.model, s.grants = m, grants
	owners := 0
	s.sides, owners = sidesOf(m, grants, s.sides[:0])
	s.holds = slices.Grow(s.holds[:0], len(grants))[:len(grants)]
	clear(s.holds)
	s.crowd = crowd{all: tally{per: make([]int32, owners)}, writers: tally{per: make([]int32, owners)}}
}

// Grant tells all operations of one grant; those that may be (May) with whatever Ret.
func (s *Sweep) Grant(number int, ops []Op) { s.holds[number] = measure(ops) }

// event is where something changes. At one time what ends comes first, then those that
// are held for no time, then what begins.
type event struct {
	at   int64
	what change
	n    int32
}

type change uint8

const (
	ends change = iota
	passes
	begins
)

func compareEvents(a, b event) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what), cmp.Compare(a.n, b.n))
}

// Judge decides about some grants. Where it answers Illegal, culprits are those that it
// found no order for: illegal by themselves, though perhaps not all of them are needed.
func (s *Sweep) Judge(numbers []int) (answer Answer, culprits []int) {
	s.events = s.events[:0]
	for _, n := range numbers {
		switch h := &s.holds[n]; h.kind {
		case flawed:
			return Illegal, []int{n}
		case moment:
			s.events = append(s.events, event{h.give, passes, int32(n)})
		case span:
			s.events = append(s.events, event{h.take, begins, int32(n)})
			if h.give < history.Forever {
				s.events = append(s.events, event{h.give, ends, int32(n)})
			}
		}
	}
	slices.SortFunc(s.events, compareEvents)
	s.waiting.reset()
	for i := range s.events {
		if culprit, ok := s.step(s.events[i]); !ok {
			answer, culprits = Illegal, s.blame(culprit, numbers)
			break
		}
	}
	if n, left := s.waiting.any(s.holds); answer != Illegal && left {
		answer, culprits = Illegal, s.blame(n, numbers)
	}
	for _, n := range numbers {
		s.crowd.all.forget(s.sides[n].owner)
		s.crowd.writers.forget(s.sides[n].owner)
	}
	if answer != Illegal {
		return Legal, nil
	}
	return answer, culprits
}

// step lets one thing happen; not ok: the grant has no place.
func (s *Sweep) step(e event) (culprit int32, ok bool) {
	side := s.sides[e.n]
	switch e.what {
	case ends:
		s.crowd.leave(side)
		return s.waiting.flush(s, e.at)
	case passes:
		if s.crowd.admits(side) {
			s.holds[e.n].at = e.at
			return 0, true
		}
		s.holds[e.n].at = nowhere
		s.waiting.add(e.n, side)
		return 0, true
	default:
		if !s.crowd.admits(side) {
			return e.n, false
		}
		s.crowd.enter(side)
		return 0, true
	}
}

// blame is a grant without a place, and those that are in its way: of one that is held for
// a time the first that suffices, of one that is not all together.
func (s *Sweep) blame(culprit int32, numbers []int) []int {
	n := int(culprit)
	h := s.holds[n]
	out := []int{n}
	for _, o := range numbers {
		other := s.holds[o]
		if o == n || other.kind != span || together(s.sides[n], s.sides[o]) {
			continue
		}
		if h.kind == span && other.take < h.give && h.take < other.give {
			return append(out, o)
		}
		if h.kind == moment && other.take < h.take && other.give > h.give {
			out = append(out, o)
		}
	}
	return out
}
