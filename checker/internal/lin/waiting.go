package lin

import "math"

// nowhere is the moment of a hold that has none yet.
const nowhere = math.MinInt64

// waiting are the holds of no length for which there was no place yet. They are looked at
// only when it may have become free for them, each of them once more at most for each list
// that it is on.
type waiting struct {
	readers, writers []int32
	of               map[side][]int32 // those that have an owner, again
}

func (w *waiting) reset() {
	w.readers, w.writers = w.readers[:0], w.writers[:0]
	clear(w.of)
}

func (w *waiting) add(n int32, s side) {
	if s.shared {
		w.readers = append(w.readers, n)
	} else {
		w.writers = append(w.writers, n)
	}
	if s.owner != noOwner {
		if w.of == nil {
			w.of = map[side][]int32{}
		}
		w.of[s] = append(w.of[s], n)
	}
}

// flush takes all waiting ones whose moment the holders admit now. Not ok: it is too late for one of them.
func (w *waiting) flush(s *Sweep, now int64) (culprit int32, ok bool) {
	if len(w.readers)+len(w.writers) == 0 {
		return 0, true
	}
	ok = true
	place := func(list []int32) []int32 {
		kept := list[:0]
		for _, n := range list {
			h := &s.holds[n]
			switch {
			case h.at != nowhere: // by way of another list
			case !s.crowd.admits(s.sides[n]):
				kept = append(kept, n)
			case now > h.take:
				culprit, ok = n, false
			default:
				h.at = now
			}
		}
		return kept
	}
	all, writers := &s.crowd.all, &s.crowd.writers
	if writers.n == 0 {
		w.readers = place(w.readers)
	}
	if all.n == 0 {
		w.writers = place(w.writers)
	}
	again := func(t *tally, shared bool) {
		if left := (side{int32(t.sum), shared}); t.owners == 1 && len(w.of[left]) > 0 {
			w.of[left] = place(w.of[left])
		}
	}
	again(all, false)
	again(all, true)
	again(writers, true)
	return culprit, ok
}

// any is one that is still without its moment.
func (w *waiting) any(holds []hold) (int32, bool) {
	for _, list := range [][]int32{w.readers, w.writers} {
		for _, n := range list {
			if holds[n].at == nowhere {
				return n, true
			}
		}
	}
	return 0, false
}
