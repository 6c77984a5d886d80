package facts

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

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
