package facts

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// HeldUp returns how much of a span some intervals cover together, each list in order.
func (in *Facts) HeldUp(span history.Interval, of ...[]history.Interval) int64 {
	all := span.Meeting(of...)
	if len(of) > 1 {
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

// withoutFaults returns the parts of a span of a client in which no fault holds it up.
func (in *Facts) withoutFaults(client string, span history.Interval) []history.Interval {
	return in.without(span, func(f *history.Injection) bool { return f.Late(client) })
}

// without returns the parts of a span without the faults of a kind that took effect.
func (in *Facts) without(span history.Interval, kind func(*history.Injection) bool) []history.Interval {
	left := []history.Interval{span}
	for _, f := range in.Faults {
		if !f.Effective() || !kind(f) {
			continue
		}
		hurt := f.Span()
		var next []history.Interval
		for _, s := range left {
			for _, part := range []history.Interval{{From: s.From, To: min(s.To, hurt.From)}, {From: max(s.From, hurt.To), To: s.To}} {
				if !part.Empty() {
					next = append(next, part)
				}
			}
		}
		left = next
	}
	return left
}

// findStands are the times for which we kept each client at an armed point, outside the effect
// of the faults that hold clients up: it was late because of us.
func (in *Facts) findStands() map[string][]history.Interval {
	open, out := map[string]int64{}, map[string][]history.Interval{}
	for i := range in.Events {
		e := &in.Events[i]
		if e.F() != history.FPoint {
			continue
		}
		switch since, stands := open[e.Party()]; {
		case e.Type() == history.Invoke:
			open[e.Party()] = e.Time
		case stands:
			delete(open, e.Party())
			out[e.Party()] = append(out[e.Party()], in.withoutFaults(e.Party(), history.Interval{From: since, To: e.Time})...)
		}
	}
	for party, since := range open {
		out[party] = append(out[party], in.withoutFaults(party, history.Interval{From: since, To: in.Last[party]})...)
	}
	for party := range out {
		slices.SortFunc(out[party], ByFrom)
	}
	return out
}
