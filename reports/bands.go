package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
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

// united are the bands with those that meet as one: a picture in which many are inside has one ground, and no deeper one
// where more of them are. A defect among them gives it its colour.
func united(bands []band) (out []band) {
	bands = slices.Clone(bands)
	slices.SortStableFunc(bands, func(a, b band) int { return cmp.Compare(a.From, b.From) })
	together := 0
	for _, b := range bands {
		last := len(out) - 1
		if last < 0 || b.From >= out[last].To {
			out, together = append(out, b), 1
			continue
		}
		together++
		out[last].To = max(out[last].To, b.To)
		if b.class == checker.Defect || out[last].class == "" {
			out[last].class = b.class
		}
		out[last].text = fmt.Sprintf("several clients held the lock at once: %[1]d times between %[2]s and %[3]s", together,
			moment(out[last].From), moment(out[last].To))
	}
	return out
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
	known := facts.Of(rec)
	for _, lock := range rec.Locks {
		for _, span := range crowded(known.Overlaps(lock)) {
			inside := func(b band) bool { return b.From <= span.From && span.To <= b.To }
			if !slices.ContainsFunc(listed, inside) {
				out = append(out, band{Interval: span, text: "several clients held lock " + lock + " at once, from " + moment(span.From) +
					" to " + moment(span.To)})
			}
		}
	}
	return out
}

// crowded are the times of overlaps: one for each grant that came while others were held.
func crowded(overlaps []facts.Overlap) []history.Interval {
	var out []history.Interval
	for i, o := range overlaps {
		if i > 0 && overlaps[i-1].Second == o.Second {
			last := &out[len(out)-1]
			last.To = max(last.To, o.Span.To)
			continue
		}
		out = append(out, o.Span)
	}
	return out
}
