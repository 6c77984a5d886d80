// Package chart draws small pictures of figures as SVG: bars, points with intervals on a logarithmic axis, and lines. A picture
// needs no script and no font of its own, and names itself to who cannot see it. Values enter as numbers in the unit of the
// axis, and leave as the text of one svg element.
package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Colours of figures, to be told apart by who sees no red and green.
const (
	Blue   = "#1f5fa8"
	Pale   = "#8fb8e0"
	Orange = "#c75b12"
)

// Sizes in pixels.
const (
	letter  = 6.4 // of a label, on average
	row     = 23.0
	head    = 26.0 // above the plot, where there is a title
	foot    = 40.0 // below it: ticks and the name of the axis
	margin  = 14.0
	legible = 60.0 // between two ticks
)

// picture is an svg element in the making.
type picture struct {
	b             strings.Builder
	width, height float64
}

// begin opens the element. The title is read aloud, and shown where shown is set.
func begin(width, height float64, title string, shown bool) *picture {
	p := &picture{width: width, height: height}
	fmt.Fprintf(&p.b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s" font-family="sans-serif" font-size="12">`,
		width, height, width, height, html.EscapeString(title))
	fmt.Fprintf(&p.b, "\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", width, height)
	if shown {
		p.text(width/2, 17, "middle", title)
	}
	return p
}

func (p *picture) end() string { return p.b.String() + "</svg>\n" }

func (p *picture) text(x, y float64, anchor, text string) {
	fmt.Fprintf(&p.b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#222\">%s</text>\n", x, y, anchor,
		html.EscapeString(text))
}

func (p *picture) line(x1, y1, x2, y2 float64, colour string, width float64) {
	fmt.Fprintf(&p.b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n", x1, y1, x2,
		y2, colour, width)
}

// dot draws a point with a tooltip.
func (p *picture) dot(x, y float64, colour, says string) {
	fmt.Fprintf(&p.b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%s</title></circle>\n", x, y, colour,
		html.EscapeString(says))
}

// tick is a place of an axis and its label, which may be empty.
type tick struct {
	value float64
	label string
}

// axis puts values on pixels.
type axis struct {
	low, high float64 // of the values
	from, to  float64 // in pixels
	log       bool
	ticks     []tick
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		low, high, v = math.Log10(low), math.Log10(high), math.Log10(v)
	}
	if high == low {
		return a.from
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// linear is an axis from 0 to a round number that is no less than the highest value.
func linear(highest, from, to float64) axis {
	if highest <= 0 {
		highest = 1
	}
	most := max(2, math.Floor(math.Abs(to-from)/legible))
	step := math.Pow(10, math.Floor(math.Log10(highest/most)))
	for _, times := range []float64{1, 2, 5, 10} {
		if highest/(step*times) <= most {
			step *= times
			break
		}
	}
	a := axis{high: math.Ceil(highest/step) * step, from: from, to: to}
	for i := 0.0; i*step <= a.high+step/2; i++ {
		a.ticks = append(a.ticks, tick{i * step, strconv.FormatFloat(i*step, 'g', 6, 64)})
	}
	return a
}

// logarithmic is an axis of powers of ten that holds two values, with labels at 1, 2 and 5.
func logarithmic(low, high, from, to float64) axis {
	a := axis{low: low / 1.2, high: high * 1.2, from: from, to: to, log: true}
	for e := math.Floor(math.Log10(a.low)); e <= math.Ceil(math.Log10(a.high)); e++ {
		for m := 1.0; m < 10; m++ {
			v, label := m*math.Pow(10, e), ""
			if m == 1 || (m == 2 || m == 5) && high/low < 1e4 {
				label = strconv.FormatFloat(v, 'g', 6, 64)
			}
			if v >= a.low && v <= a.high {
				a.ticks = append(a.ticks, tick{v, label})
			}
		}
	}
	return a
}

// below draws the ticks of an axis under a plot, with lines through it, and the name of what it measures.
func (p *picture) below(a axis, top, bottom float64, name string) {
	for _, t := range a.ticks {
		shade := "#eee"
		if t.label != "" {
			shade = "#ccc"
			p.text(a.at(t.value), bottom+16, "middle", t.label)
		}
		p.line(a.at(t.value), top, a.at(t.value), bottom, shade, 1)
	}
	p.text((a.from+a.to)/2, bottom+34, "middle", name)
}

// labels is how wide the longest of some labels is.
func labels(names []string) (width float64) {
	for _, n := range names {
		width = max(width, letter*float64(len(n)))
	}
	return width + 8
}
