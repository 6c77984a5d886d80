package reports

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

const (
	laneHeight = 40
	laneTop    = 26
	leftEdge   = 90
	picture    = 1180
	margin     = 20
	labelWidth = 80
	// fewShapes is how many shapes a picture may have for each of them to be a stop of the
	// keyboard; where there are more, only the rows and what matters are.
	fewShapes = 150
)

// painter collects what a picture shows: rows first, then shapes by row and class.
type painter struct {
	t     *Timeline
	rec   *history.Record
	rank  map[string]int
	width int
	from  int64
	to    int64
	lanes map[string]int // party -> y of its row
	names map[int]string // y -> whose row it is
	// tracks are by class and place.
	tracks map[place]*track
	// labels are where the labels of a row begin, by its y.
	labels map[float64][]float64
}

// facts are what the record shows.
func (p *painter) facts() *facts.Facts { return facts.Of(p.rec) }

type place struct {
	class string
	y, h  float64
}

func newPainter(rec *history.Record, to int64, rank map[string]int) *painter {
	return &painter{
		rec: rec, rank: rank, width: picture, to: max(to, 1), lanes: map[string]int{}, names: map[int]string{},
		tracks: map[place]*track{}, labels: map[float64][]float64{},
	}
}

// paint draws the part of the record between the painter's two moments.
func (p *painter) paint(title string, r *checker.Results, bands []band) *Timeline {
	p.t = &Timeline{Title: title, Width: p.width}
	p.layLanes()
	p.drawTicks()
	p.drawFaults()
	p.drawServers()
	for _, b := range united(bands) {
		p.drawBand(b)
	}
	for _, g := range p.rec.Grants {
		p.drawGrant(g)
	}
	p.drawLost(r)
	p.t.Shapes = shapes(p.inLayers())
	for i := range p.t.Shapes {
		s := &p.t.Shapes[i]
		s.Focus = len(p.t.Shapes) <= fewShapes || !ordinary[s.Class]
	}
	return p.t
}

// ordinary are the classes of what every section shows.
var ordinary = map[string]bool{"waiting": true, "orphan": true, "hold": true, "lease": true, "read": true, "write": true}

// layers say what lies over what: bands at the bottom, what matters on top. Classes that
// are not among them are roles of servers.
var layers = map[string]int{
	"faultall": 0, "fault": 1, "overlap": 2, "clash": 2, "down": 4, "waiting": 4, "orphan": 4, "hold": 5, "lease": 6, "read": 7,
	"write":   7,
	"unknown": 8, "refused": 9, "kill": 10, "lost": 10,
}

func (p *painter) inLayers() []*track {
	layer := func(class string) int {
		first, _, _ := strings.Cut(class, " ")
		if n, ok := layers[first]; ok {
			return n
		}
		return 3
	}
	return slices.SortedFunc(maps.Values(p.tracks), func(a, b *track) int {
		return cmp.Or(cmp.Compare(layer(a.class), layer(b.class)), cmp.Compare(a.y, b.y), cmp.Compare(a.h, b.h),
			cmp.Compare(a.class, b.class))
	})
}

func (p *painter) x(t int64) float64 {
	t = min(max(t, p.from), p.to)
	return leftEdge + float64(t-p.from)/float64(p.to-p.from)*float64(p.width-margin-leftEdge)
}

func (p *painter) track(kind, class, row string, y, h float64) *track {
	key := place{class, y, h}
	t := p.tracks[key]
	if t == nil {
		t = &track{class: class, kind: kind, row: row, y: y, h: h}
		p.tracks[key] = t
	}
	return t
}

// span adds a rectangle for a part of time, unless it is out of the picture. Its text is
// asked for only where it is a shape of its own.
func (p *painter) span(class, row string, from, to int64, y, h float64, text func() string) {
	if to < p.from || from > p.to {
		return
	}
	x := p.x(from)
	end := max(p.x(to), x+least(class))
	p.track(kindRect, class, row, y, h).add(item{from: max(from, p.from), to: min(to, p.to), x: x, end: end, text: text})
}

// least is the width at which a rectangle can still be seen.
func least(class string) float64 {
	if strings.HasPrefix(class, "fault") {
		return 4
	}
	return 1
}

// mark adds a mark in a row, whose top is y.
func (p *painter) mark(kind, class string, t int64, y int, text func() string, label string) {
	if t < p.from || t > p.to {
		return
	}
	x, mid := p.x(t), float64(y+14)
	near := func(other float64) bool { return math.Abs(other-x) < labelWidth }
	if label != "" && slices.ContainsFunc(p.labels[mid], near) {
		label = "" // it would cover another one; the tooltip has it all
	}
	if label != "" {
		p.labels[mid] = append(p.labels[mid], x)
	}
	p.track(kind, class, p.names[y], mid, 0).add(item{from: t, to: t, x: x, end: x, text: text, label: label})
}

// drawTicks marks round times, about one in 118 units.
func (p *painter) drawTicks() {
	raw := float64(p.to-p.from) * 118 / float64(p.width)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw {
			step *= m
			break
		}
	}
	first := math.Ceil(float64(p.from)/step) * step
	for i := range 20 {
		t := first + float64(i)*step
		if t > float64(p.to) {
			return
		}
		p.t.Ticks = append(p.t.Ticks, Tick{X: tenth(p.x(int64(t))), Text: strconv.FormatFloat(t/1e9, 'f', -1, 64) + " s"})
	}
}
