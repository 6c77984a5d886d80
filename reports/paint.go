package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

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
