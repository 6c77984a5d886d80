package reports

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Timeline is a picture of a part of the run: a lane for each client and each server, in SVG units. It always draws
// the whole time: marks on the same pixels of a lane are one shape.
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
	Folded string // rows that stand for several, if any
}

// Lane is a row for one party, or the last one, for all that share it.
type Lane struct {
	Name string
	Y    int
}

// AtEdge reports whether a label beside x would leave the picture.
func (t *Timeline) AtEdge(x float64) bool { return x > float64(t.Width-110) }

// Short returns the name, shortened to fit.
func (l Lane) Short() string {
	const most = 11
	if r := []rune(l.Name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return l.Name
}

// Tick is a mark of the time axis.
type Tick struct {
	X    float64
	Text string
}

// Shape is a rectangle or a mark, with its class for the style sheet and a tooltip. With a path, it is several of one
// class that are close together.
type Shape struct {
	Kind       string // rect, dot, cross, path
	Class      string
	X, Y, W, H float64
	Path       string  // of kind path
	Stroke     float64 // of kind path: its width
	Text       string  // tooltip
	Label      string  // drawn text
	Focus      bool    // a stop for the keyboard
}

// drawer draws a run.
type drawer struct {
	r     *checker.Results
	rec   *history.Record
	rank  map[string]int
	bands []band
}

func newDrawer(r *checker.Results, rec *history.Record, story *Story) drawer {
	return drawer{r, rec, ranked(r, rec, story), bandsOf(r, rec)}
}

// whole is the whole run.
func (d drawer) whole() *Timeline {
	return newPainter(d.rec, endOf(d.rec), d.rank).paint("The whole run", d.r, d.bands)
}

// endOf is the last moment of a run that there is something to say of.
func endOf(rec *history.Record) int64 {
	var end int64
	for _, t := range rec.Last {
		end = max(end, t)
	}
	for _, e := range slices.Concat(rec.Roles, rec.Deaths) {
		end = max(end, e.Time)
	}
	for _, in := range rec.Faults {
		end = max(end, in.Invoke.Time)
		if to := in.Until(); to < history.Forever {
			end = max(end, to)
		}
	}
	return end
}

// around is the time of a finding with all that its grants did, and their clients.
func around(f *checker.Finding, rec *history.Record) (history.Interval, []string) {
	span := history.Interval{From: f.From, To: f.To}
	var clients []string
	for _, g := range grantsOf(rec, f) {
		if g.Acquire == nil {
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
