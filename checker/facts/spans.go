package facts

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// HeldUp is how much of a span some intervals cover together, each list in order.
func (in *Facts) HeldUp(span history.Interval, lists ...[]history.Interval) (sum int64) {
	all := slices.Concat(lists...)
	if len(lists) > 1 {
		slices.SortFunc(all, ByFrom)
	}
	end := span.From
	for _, s := range all {
		if s.From >= span.To {
			break
		}
		if part := s.Overlap(history.Interval{From: end, To: span.To}); !part.Empty() {
			sum += part.To - part.From
			end = part.To
		}
	}
	return sum
}

// ByFrom orders intervals by their beginning.
func ByFrom(a, b history.Interval) int { return cmp.Compare(a.From, b.From) }
