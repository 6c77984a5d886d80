package reports

import (
	"strconv"
	"strings"
)

// The kinds of shapes.
const (
	kindRect  = "rect"
	kindDot   = "dot"
	kindCross = "cross"
)

// path draws pieces as one line of SVG: strokes for rectangles, very short ones with round ends
// for dots, two strokes for a cross.
func (t *track) path(pieces []piece) string {
	var b strings.Builder
	num := func(x float64) string { return strconv.FormatFloat(tenth(x), 'f', -1, 64) }
	for _, p := range pieces {
		switch t.kind {
		case kindCross:
			b.WriteString("M" + num(p.x-4) + " " + num(t.y-4) + "l8 8m-8 0l8-8")
		case kindDot:
			b.WriteString("M" + num(p.x) + " " + num(t.y) + "h.1")
		default:
			b.WriteString("M" + num(p.x) + " " + num(t.y+t.h/2) + "h" + num(p.end-p.x))
		}
	}
	return b.String()
}

// stroke is the width of the line that [track.path] draws.
func (t *track) stroke() float64 {
	switch {
	case t.kind == kindCross:
		return 2.4
	case t.class == "read":
		return 3
	case t.kind == kindDot:
		return 6.8
	default:
		return t.h
	}
}
