package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// maxShapes is how many shapes a picture has where it can: above it, those of one class
	// that stand close together in a row share a tooltip.
	maxShapes = 2000
	// maxPieces is how many strokes the shapes of a picture have: above it, gaps of a few
	// pixels between strokes of one class are closed.
	maxPieces = 12000
	// wideGap is how wide the gaps are that are closed between ordinary strokes alone.
	wideGap = 16
)

// track has the shapes of one class in one row. Those that begin on the same pixel are one item, however many there
// are; so a track has at most as many items as the picture is wide. Shapes of different classes are never joined, so
// that important ones cannot vanish among ordinary ones.
type track struct {
	class, kind string
	row         string // whose it is; empty: of all
	y, h        float64
	items       []*item // by column, as far as there are any
}

// item is one or several shapes.
type item struct {
	from, to int64   // of all that it stands for
	x, end   float64 // where it is drawn
	n        int
	text     func() string
	label    string
	pieces   []piece
}

// piece is the drawn extent of an item.
type piece struct{ x, end float64 }

func (t *track) add(it item) {
	column := max(int(it.x), 0)
	if column >= len(t.items) {
		t.items = append(t.items, make([]*item, column+1-len(t.items))...)
	}
	old := t.items[column]
	if old == nil {
		first := it // a copy, so that no other one lives on the heap
		first.n = 1
		t.items[column] = &first
		return
	}
	old.n++
	old.from, old.to = min(old.from, it.from), max(old.to, it.to)
	old.x, old.end = min(old.x, it.x), max(old.end, it.end)
	old.label = cmp.Or(old.label, it.label)
}

// narrow is a width at which rectangles that nearly touch are seen as one.
const narrow = 2

// sorted are the items from left to right, each one piece; narrow rectangles that are less
// than a pixel apart are one.
func (t *track) sorted() []*item {
	var out []*item
	wide := true // the last piece of the last item
	for _, it := range t.items {
		if it == nil {
			continue
		}
		if t.kind != kindRect {
			it.end = it.x // a mark has no width
		}
		it.pieces = []piece{{it.x, it.end}}
		small := it.end-it.x < narrow
		if last := len(out) - 1; t.kind == kindRect && last >= 0 && small && !wide && it.x-out[last].end < 1 {
			out[last].take(it, 1)
		} else {
			out = append(out, it)
		}
		wide = !small
	}
	return out
}

// take joins the next item to this one; pieces less than gap apart become one.
func (it *item) take(next *item, gap float64) {
	it.n += next.n
	it.to, it.end = max(it.to, next.to), max(it.end, next.end)
	it.label = cmp.Or(it.label, next.label)
	it.pieces = joined(append(it.pieces, next.pieces...), gap)
}

// joined makes one of pieces that are less than gap apart. A mark has no width: it stays
// where it is, and stands for those that are so close behind it.
func joined(pieces []piece, gap float64) []piece {
	out := pieces[:1]
	for _, p := range pieces[1:] {
		last := &out[len(out)-1]
		switch {
		case p.x-last.end >= gap:
			out = append(out, p)
		case p.end > p.x:
			last.end = max(last.end, p.end)
		}
	}
	return out
}

// grouped joins the items that begin in the same stretch of so many pixels.
func grouped(items []*item, stretch, gap float64) []*item {
	var out []*item
	for _, it := range items {
		if last := len(out) - 1; last >= 0 && math.Floor(out[last].x/stretch) == math.Floor(it.x/stretch) {
			out[last].take(it, gap)
			continue
		}
		first := *it
		first.pieces = slices.Clone(it.pieces)
		out = append(out, &first)
	}
	return out
}

// shapes are all tracks as shapes, few enough to be a page.
func shapes(tracks []*track) []Shape {
	all := make([][]*item, len(tracks))
	for i, t := range tracks {
		all[i] = t.sorted()
	}
	for stretch := 4.0; count(all, func(*item) int { return 1 }) > maxShapes && stretch <= 2*picture; stretch *= 2 {
		for i := range all {
			all[i] = grouped(all[i], stretch, 1)
		}
	}
	for gap := 2.0; count(all, func(it *item) int { return len(it.pieces) }) > maxPieces && gap <= 2*picture; gap *= 2 {
		for i, t := range tracks {
			if !ordinary[t.class] && gap <= wideGap {
				continue
			}
			for _, it := range all[i] {
				it.pieces = joined(it.pieces, gap)
			}
		}
	}
	var out []Shape
	for i, t := range tracks {
		for _, it := range all[i] {
			out = append(out, t.shape(it))
		}
	}
	return out
}

func count(all [][]*item, of func(*item) int) int {
	n := 0
	for _, items := range all {
		for _, it := range items {
			n += of(it)
		}
	}
	return n
}

// nouns say what several shapes of a class are.
var nouns = map[string]string{
	"hold": "holds", "lease": "leases", "waiting": "waits", "read": "reads", "write": "writes", "fault": "faults",
	"faultall": "faults that can affect every client",
	"refused":  "refused requests", "unknown": "acquires with unknown outcome", "kill": "kills",
	"lost": "writes that overwrote unseen updates", "orphan": "unavailable periods (no client held the lock, but in the store the " +
		"lock may have been marked as held)",
	"overlap": "periods with several holders", "overlap defect": "periods with several holders (defects)",
	"overlap inherent":     "periods with several holders (inherent to leases)",
	"overlap undetermined": "periods with several holders (unknown whether defect or inherent)",
	"overlap none":         "periods with several holders", "clash": "periods with several holders",
	"master": "periods as master", "replica": "periods as replica", "down": "periods down", "role": "periods in another role",
	"server": "periods with an unknown role",
}

func (t *track) shape(it *item) Shape {
	s := Shape{Kind: t.kind, Class: t.class, X: tenth(it.x), Y: t.y, W: tenth(it.end - it.x), H: t.h, Label: it.label}
	if it.n == 1 {
		s.Text = it.text()
	} else {
		s.Text = fmt.Sprintf("%d %s", it.n, nouns[t.class])
		if t.row != "" {
			s.Text += " of " + t.row
		}
		s.Text += " from " + moment(it.from) + " to " + moment(it.to)
	}
	if t.kind == kindRect && s.W < float64(8*len(s.Label)+8) {
		s.Label = ""
	}
	if len(it.pieces) > 1 {
		s.Kind, s.Path, s.Stroke = "path", t.path(it.pieces), t.stroke()
	}
	return s
}

func tenth(x float64) float64 { return math.Round(x*10) / 10 }
