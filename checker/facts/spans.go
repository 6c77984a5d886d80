package facts

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// HeldUp returns how much of a span some intervals cover together, each list in order.
func (in *Facts) HeldUp(span history.Interval, lists ...[]history.Interval) int64 {
	all := slices.Concat(lists...)
	if len(lists) > 1 {
		slices.SortFunc(all, ByFrom)
	}
	return span.Covered(all)
}

// ByFrom orders intervals by their beginning.
func ByFrom(a, b history.Interval) int { return cmp.Compare(a.From, b.From) }

// Disjoint orders intervals by their beginning, in place, and returns them with those made one that meet.
func Disjoint(all []history.Interval) (out []history.Interval) {
	slices.SortFunc(all, ByFrom)
	for _, s := range all {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
		} else {
			out = append(out, s)
		}
	}
	return out
}
