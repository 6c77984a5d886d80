package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// band is a time in which two clients were inside at once.
type band struct {
	history.Interval
	class checker.Class // empty: it is not listed, only counted
	text  string
}

// drawBand draws a pale band over all rows, with a cap above them that is seen where the
// band is a hair.
func (p *painter) drawBand(b band) {
	text := func() string { return b.text }
	p.span(strings.TrimSpace("overlap "+string(b.class)), "", b.From, b.To, laneTop-3, float64(p.t.Height-laneTop-3), text)
	p.span("clash", "", b.From, b.To, laneTop-6, 3, text)
}

// bandsOf are the overlaps that are listed and, where there were more of them than are
// listed, the times of all others.
func bandsOf(r *checker.Results, rec *history.Record) []band {
	var out []band
	c := r.Checks[checker.MutualExclusion]
	for _, f := range c.Findings {
		out = append(out, band{history.Interval{From: f.From, To: f.To}, f.Class, f.Message})
	}
	if r.Stats["violations"] <= int64(len(out)) {
		return out
	}
	listed := out
	for _, lock := range rec.Locks {
		for _, span := range crowded(rec, lock) {
			inside := func(b band) bool { return b.From <= span.From && span.To <= b.To }
			if !slices.ContainsFunc(listed, inside) {
				out = append(out, band{Interval: span, text: "clients overlap on " + lock + " from " + moment(span.From) + " to " + moment(span.To)})
			}
		}
	}
	return out
}

// held is a grant with its proven hold.
type held struct {
	grant *history.Grant
	history.Interval
}

// crowded are the times in which a lock had two holders that it may not have together.
func crowded(rec *history.Record, lock string) []history.Interval {
	var holds []held
	for _, g := range rec.ByLock[lock] {
		if h := rec.ProvenHold(g); !h.Empty() {
			holds = append(holds, held{g, h})
		}
	}
	slices.SortStableFunc(holds, func(a, b held) int { return cmp.Compare(a.From, b.From) })
	var out []history.Interval
	var active []held
	for _, h := range holds {
		active = slices.DeleteFunc(active, func(a held) bool { return a.To <= h.From })
		until := h.From
		for _, a := range active {
			if !rec.Model.Together(a.grant, h.grant) {
				until = max(until, min(a.To, h.To))
			}
		}
		if until > h.From {
			out = append(out, history.Interval{From: h.From, To: until})
		}
		active = append(active, h)
	}
	return out
}
