package reports

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Timeline is a picture of a part of the run: a lane for each client and each server, in
// SVG units.
//
//	client  ....waiting....|=== proven hold ===|        fault band behind it
//	        |------- lease (sent to deadline) -------|
type Timeline struct {
	Title  string
	Width  int
	Height int
	Lanes  []Lane
	Shapes []Shape
	Ticks  []Tick
	Cut    string // what was left out, if anything
}

// Lane is one party's row.
type Lane struct {
	Name string
	Y    int
}

// Tick is a mark of the time axis.
type Tick struct {
	X    float64
	Text string
}

// Shape is a rectangle or a mark, with its class for the style sheet and a tooltip.
type Shape struct {
	Kind       string // rect, dot, cross
	Class      string
	X, Y, W, H float64
	Text       string // tooltip
	Label      string // drawn text
}

// timelines are the surroundings of the finding that is told first, if there is one, and the
// whole run.
func timelines(r *checker.Results, rec *history.Record, worst *checker.Finding) []*Timeline {
	var out []*Timeline
	var end int64
	for _, t := range rec.Last {
		end = max(end, t)
	}
	if worst != nil && len(worst.Grants) > 1 {
		span, clients := around(worst, rec)
		margin := (span.To - span.From) / 12
		out = append(out, newTimeline("Around the violation", r, rec, max(0, span.From-margin), min(span.To+margin, end), clients))
	}
	return append(out, newTimeline("The whole run", r, rec, 0, end, nil))
}

// around is the time of a finding with all that its grants did, and their clients.
func around(f *checker.Finding, rec *history.Record) (history.Interval, []string) {
	span := history.Interval{From: f.From, To: f.To}
	var clients []string
	for _, id := range f.Grants {
		g := rec.ByID[id]
		if g == nil || g.Acquire == nil {
			continue
		}
		clients = append(clients, g.Client)
		span.From = min(span.From, g.Sent())
		for _, c := range slices.Concat(g.Uses, g.Releases) {
			span.To = max(span.To, c.Start())
		}
	}
	return span, clients
}

// newTimeline draws the part of the record between two moments: all clients, or those
// named and whoever was inside.
func newTimeline(title string, r *checker.Results, rec *history.Record, from, to int64, only []string) *Timeline {
	p := &painter{rec: rec, only: only, from: from, to: max(to, from+1), lanes: map[string]int{}, labels: map[float64][]float64{}}
	p.t = &Timeline{Title: title, Width: picture}
	p.layLanes()
	p.drawTicks()
	p.drawFaults()
	p.drawServers()
	p.drawOverlaps(r)
	for _, g := range rec.Grants {
		if len(p.t.Shapes) > maxShapes {
			p.t.Cut = fmt.Sprintf("only the first %d shapes are drawn", maxShapes)
			break
		}
		p.drawGrant(g)
	}
	p.drawLost(r)
	return p.t
}
