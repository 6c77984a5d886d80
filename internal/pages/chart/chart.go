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
		`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s" `+
			`font-family="sans-serif" font-size="12">`,
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

// Width is that of bars and of points, in pixels; that of the labels is part of it.
const Width = 760.0

// Bar is a value with a name.
type Bar struct {
	Name  string
	Value float64
}

// Bars draws one bar under the other, from 0 on.
func Bars(title, axisName string, bars []Bar) string {
	names, highest := make([]string, len(bars)), 0.0
	for i, b := range bars {
		names[i], highest = b.Name, max(highest, b.Value)
	}
	left, bottom := labels(names)+margin, head+row*float64(len(bars))
	p := begin(Width, bottom+foot, title, true)
	x := linear(highest, left, Width-2*margin)
	p.below(x, head, bottom, axisName)
	for i, b := range bars {
		y := head + row*float64(i)
		p.text(left-6, y+row/2+4, "end", b.Name)
		fmt.Fprintf(&p.b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>%.4g</title></rect>\n", left,
			y+4, x.at(b.Value)-left, row-8, Blue, b.Value)
	}
	return p.end()
}

// Point is a value, which is positive, with its interval.
type Point struct {
	Value, Low, High float64
	Colour           string
	Says             string // shown when it is pointed at
}

// Row is a name with its points.
type Row struct {
	Name   string
	Points []Point
}

// Points draws rows of points with intervals on a logarithmic axis, the first row at the top. The title is for who cannot see
// it: the page has it as a heading.
func Points(title, axisName string, rows []Row) string {
	names, low, high := make([]string, len(rows)), math.Inf(1), 0.0
	for i, r := range rows {
		names[i] = r.Name
		for _, q := range r.Points {
			low, high = min(low, q.Low, q.Value), max(high, q.High, q.Value)
		}
	}
	left, bottom := labels(names)+margin, margin+row*float64(len(rows))
	p := begin(max(Width, left+400), bottom+foot, title, false)
	if high == 0 {
		return p.end()
	}
	x := logarithmic(low, high, left, p.width-2*margin)
	p.below(x, margin, bottom, axisName)
	for i, r := range rows {
		y := margin + row*(float64(i)+0.5)
		p.line(left, y, p.width-2*margin, y, "#eee", 1)
		p.text(left-6, y+4, "end", r.Name)
		for _, q := range r.Points {
			from, to := x.at(min(q.Low, q.Value)), x.at(max(q.High, q.Value))
			p.line(from, y, to, y, q.Colour, 1.6)
			p.line(from, y-4, from, y+4, q.Colour, 1.6)
			p.line(to, y-4, to, y+4, q.Colour, 1.6)
			p.dot(x.at(q.Value), y, q.Colour, q.Says)
		}
	}
	return p.end()
}

// Line is a curve with its name; the points are in order of x.
type Line struct {
	Name, Colour string
	X, Y         []float64
}

// Lines draws curves over one axis, from 0 on.
func Lines(title, xName, yName string, lines []Line) string {
	const width, height = 680.0, 320.0
	xs, ys := 0.0, 0.0
	for _, l := range lines {
		for i := range l.X {
			xs, ys = max(xs, l.X[i]), max(ys, l.Y[i])
		}
	}
	p := begin(width, height, title, true)
	const left, top, bottom = 60.0, head + 10, height - foot
	x, y := linear(xs, left, width-2*margin), linear(ys, bottom, top)
	p.below(x, top, bottom, xName)
	for _, t := range y.ticks {
		p.line(left, y.at(t.value), width-2*margin, y.at(t.value), "#ccc", 1)
		p.text(left-6, y.at(t.value)+4, "end", t.label)
	}
	if yName != "" {
		fmt.Fprintf(&p.b, "<g transform=\"translate(14 %.1f) rotate(-90)\">", (top+bottom)/2)
		p.text(0, 0, "middle", yName)
		p.b.WriteString("</g>\n")
	}
	for n, l := range lines {
		path := ""
		for i := range l.X {
			path += fmt.Sprintf("%.1f,%.1f ", x.at(l.X[i]), y.at(l.Y[i]))
		}
		fmt.Fprintf(&p.b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, l.Colour)
		for i := range l.X {
			p.dot(x.at(l.X[i]), y.at(l.Y[i]), l.Colour, fmt.Sprintf("%g: %.4g", l.X[i], l.Y[i]))
		}
		at := top + 14 + 18*float64(n)
		p.line(left+12, at-4, left+36, at-4, l.Colour, 3)
		p.text(left+42, at, "start", l.Name)
	}
	return p.end()
}
