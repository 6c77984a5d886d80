package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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

const (
	laneHeight = 40
	laneTop    = 26
	leftEdge   = 90
	rightEdge  = 1160
	picture    = 1180
	maxShapes  = 4000
	maxLanes   = 40
	labelWidth = 80
)

type painter struct {
	t     *Timeline
	rec   *history.Record
	only  []string // clients to show; nil: all
	from  int64
	to    int64
	lanes map[string]int
	// labels are where the labels of a row begin, by its y.
	labels map[float64][]float64
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

// layLanes gives a row to every client and every server that has something to show.
func (p *painter) layLanes() {
	var clients []string
	for client := range p.rec.Last {
		if p.active(client) {
			clients = append(clients, client)
		}
	}
	slices.SortFunc(clients, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	if len(clients) > maxLanes {
		p.t.Cut = fmt.Sprintf("the first %d of %d clients are shown", maxLanes, len(clients))
		clients = clients[:maxLanes]
	}
	clients = append(clients, serversOf(p.rec)...)
	for i, c := range clients {
		y := laneTop + i*laneHeight
		p.lanes[c] = y
		p.t.Lanes = append(p.t.Lanes, Lane{Name: c, Y: y})
	}
	p.t.Height = laneTop + len(clients)*laneHeight + 10
}

func (p *painter) active(client string) bool {
	return slices.ContainsFunc(p.rec.Grants, func(g *history.Grant) bool {
		if g.Client != client || g.Acquire == nil {
			return false
		}
		if p.only != nil && !slices.Contains(p.only, client) {
			return !p.rec.ProvenHold(g).Overlap(history.Interval{From: p.from, To: p.to}).Empty()
		}
		return g.Acquire.Start() <= p.to && p.rec.Last[client] >= p.from
	})
}

func (p *painter) x(t int64) float64 {
	t = min(max(t, p.from), p.to)
	return leftEdge + float64(t-p.from)/float64(p.to-p.from)*(rightEdge-leftEdge)
}

// span adds a rectangle for a part of time, unless it is out of the picture.
func (p *painter) span(class string, from, to int64, y, h float64, text string) {
	if to < p.from || from > p.to {
		return
	}
	x := p.x(from)
	p.t.Shapes = append(p.t.Shapes, Shape{Kind: "rect", Class: class, X: x, Y: y, W: max(p.x(to)-x, least(class)), H: h, Text: text})
}

// least is the width at which a rectangle can still be seen.
func least(class string) float64 {
	if strings.HasPrefix(class, "fault") {
		return 4
	}
	return 1
}

func (p *painter) mark(kind, class string, t int64, y float64, text, label string) {
	if t < p.from || t > p.to {
		return
	}
	near := func(x float64) bool { return math.Abs(x-p.x(t)) < labelWidth }
	if label != "" && slices.ContainsFunc(p.labels[y], near) {
		label = "" // it would cover another one; the tooltip has it all
	}
	if label != "" {
		p.labels[y] = append(p.labels[y], p.x(t))
	}
	p.t.Shapes = append(p.t.Shapes, Shape{Kind: kind, Class: class, X: p.x(t), Y: y, Text: text, Label: label})
}

// drawTicks marks about ten round times.
func (p *painter) drawTicks() {
	raw := float64(p.to-p.from) / 10
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw {
			step *= m
			break
		}
	}
	for t := math.Ceil(float64(p.from)/step) * step; t <= float64(p.to); t += step {
		p.t.Ticks = append(p.t.Ticks, Tick{X: p.x(int64(t)), Text: strconv.FormatFloat(t/1e9, 'f', -1, 64) + " s"})
	}
}

func (p *painter) drawFaults() {
	for _, in := range p.rec.Faults {
		if !in.Effective() {
			continue
		}
		to := max(in.Until(), in.Effect.Time)
		text := fmt.Sprintf("%s #%d: %s", in.Fault.Fault, in.ID, in.Proof)
		for _, party := range slices.Concat(in.Clients, in.Nodes) {
			if y, ok := p.lanes[party]; ok {
				p.span("fault", in.Invoke.Time, to, float64(y), laneHeight-4, text)
			}
		}
		if len(in.Nodes) > 0 && len(in.Clients) == 0 {
			p.span("faultall", in.Invoke.Time, to, laneTop, float64(p.t.Height-laneTop-10), text)
		}
	}
	for client, t := range p.rec.Kills {
		if y, ok := p.lanes[client]; ok {
			p.mark("cross", "kill", t, float64(y+14), client+" is killed", "killed")
		}
	}
}

func (p *painter) drawOverlaps(r *checker.Results) {
	for _, f := range r.Checks["mutual-exclusion"].Findings {
		p.span("overlap "+string(f.Class), f.From, f.To, laneTop-6, float64(p.t.Height-laneTop), f.Message)
	}
}

func (p *painter) drawGrant(g *history.Grant) {
	lane, ok := p.lanes[g.Client]
	if !ok || g.Acquire == nil {
		return
	}
	y := float64(lane)
	if !g.Granted() {
		end := p.rec.Last[g.Client]
		if g.Acquire.Return != nil {
			end = g.Acquire.Return.Time
		}
		p.span("waiting", g.Acquire.Start(), end, y+13, 3, g.ID+" waits, and is not granted")
		if g.Acquire.Outcome() == history.Info {
			p.mark("cross", "unknown", g.Acquire.Start(), y+14, g.ID+": acquire of unknown outcome", "")
		}
		return
	}
	p.span("waiting", g.Acquire.Start(), g.From(), y+13, 3, g.ID+" waits")
	hold := p.rec.ProvenHold(g)
	p.span("hold", hold.From, hold.To, y+6, 16, fmt.Sprintf("%s: %s holds %s from %s to %s", g.ID, g.Client, g.Lock, at(hold.From), at(hold.To)))
	if d := g.DeadlineAt(history.Forever); d.Set {
		end := d.V
		for _, rel := range g.Releases {
			if rel.Outcome() == history.OK {
				end = min(end, rel.End())
			}
		}
		p.span("lease", g.Sent(), end, y+25, 5, fmt.Sprintf("lease of %s: sent %s, deadline %s", g.ID, at(g.Sent()), at(d.V)))
	}
	for _, u := range g.Uses {
		class := "read"
		if u.Invoke.F == history.FWrite {
			class = "write"
		}
		if u.Outcome() == history.Fail {
			p.mark("cross", "refused", u.Start(), y+14, useText(g, u), "")
		} else if u.Invoke.F != history.FWork {
			p.mark("dot", class, u.Start(), y+14, useText(g, u), "")
		}
	}
}

// drawLost marks the writes by which updates were lost.
func (p *painter) drawLost(r *checker.Results) {
	for _, name := range []string{"data-plain", "data-fenced"} {
		for _, f := range r.Checks[name].Findings {
			if len(f.Grants) == 0 || !strings.HasPrefix(f.Rule, "lost") && f.Rule != "late-write" {
				continue
			}
			if g := p.rec.ByID[f.Grants[0]]; g != nil {
				if y, ok := p.lanes[g.Client]; ok {
					p.mark("cross", "lost", f.To, float64(y+14), f.Message, "stale write")
				}
			}
		}
	}
}
