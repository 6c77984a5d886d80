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
