package lin

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/history"
)

// held is a grant that a counted lock is held by, and how often it was renewed: a renewal
// counts for it only if it was held then.
type held struct{ grant, level int }

// tenure is what a counted lock is held by, in order: all of one owner.
type tenure []held

func (t tenure) find(n int) int {
	return slices.IndexFunc(t, func(h held) bool { return h.grant == n })
}

func (t tenure) without(i int) tenure { return slices.Delete(slices.Clone(t), i, i+1) }

func (t tenure) with(h held) tenure {
	t = append(slices.Clone(t), h)
	slices.SortFunc(t, func(a, b held) int { return cmp.Compare(a.grant, b.grant) })
	return t
}

func compareTenures(a, b tenure) int {
	return slices.CompareFunc(a, b, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.grant, b.grant), cmp.Compare(a.level, b.level))
	})
}

func sameTenures(a, b []tenure) bool {
	return slices.EqualFunc(a, b, slices.Equal)
}

// countedModel is a lock that one owner may hold several times, where the store knows only
// the owner and a count. A release under a grant that has run out takes another one of the
// same owner: whichever, so the state is all tenures that may be.
func countedModel(m history.Model, grants []*history.Grant) porcupine.Model {
	step := func(may []tenure, op *Op) (bool, []tenure) {
		var next []tenure
		for _, t := range may {
			next = append(next, counted(m, grants, t, op)...)
		}
		slices.SortFunc(next, compareTenures)
		next = slices.CompactFunc(next, slices.Equal)
		return len(next) > 0, next
	}
	return porcupine.Model{
		Init:        func() any { return []tenure{nil} },
		StepContext: stepper(step),
		Equal:       func(a, b any) bool { return sameTenures(a.([]tenure), b.([]tenure)) },
		Hash: func(s any) uint64 {
			var h maphash.Hash
			h.SetSeed(seed)
			for _, t := range s.([]tenure) {
				maphash.WriteComparable(&h, len(t))
				for _, one := range t {
					maphash.WriteComparable(&h, one)
				}
			}
			return h.Sum64()
		},
		DescribeOperation: describe,
	}
}

// counted is what an operation can make of a tenure; nothing where it is not legal.
func counted(m history.Model, grants []*history.Grant, t tenure, op *Op) []tenure {
	i := t.find(op.Grant)
	mine := i >= 0
	owners := len(t) > 0 && m.Together(grants[t[0].grant], grants[op.Grant])
	same := []tenure{t}
	switch op.Kind {
	case Acquire:
		if len(t) == 0 || owners {
			return []tenure{t.with(held{grant: op.Grant})}
		}
	case Release:
		return given(t, i, owners, op.Loose)
	case Renew:
		if mine {
			return []tenure{t.without(i).with(held{op.Grant, max(t[i].level, op.Level)})}
		}
		if owners || op.Loose {
			return same
		}
	case NotHeld:
		if !mine {
			return same
		}
	default: // May
		if mine && t[i].level <= op.Level {
			return []tenure{t.without(i)}
		}
		return same
	}
	return nil
}

// given is what a release can make of a tenure: it gives back its own grant, which is number
// i, else another one of the same owner.
func given(t tenure, i int, owners, loose bool) []tenure {
	if i >= 0 {
		return []tenure{t.without(i)}
	}
	var out []tenure
	if loose {
		out = append(out, t)
	}
	if owners {
		for k := range t {
			out = append(out, t.without(k))
		}
	}
	return out
}
