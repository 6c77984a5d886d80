package chart

import (
	"fmt"
	"math"
)

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
