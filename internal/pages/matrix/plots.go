package matrix

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/lockstorm/lockstorm/internal/pages/chart"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// plotted is a picture of the page.
type plotted struct {
	Title, Text string
	SVG         template.HTML
}

// maxBars bounds a picture.
const maxBars = 40

// plots draws how long it takes to acquire without faults, and how long locks take to come back after
// one: what was not measured has no picture.
func (t *Table) plots() (out []plotted) {
	for _, p := range []struct {
		title, text string
		names       []string
		of          func(cell) bool
	}{
		{
			"Time to acquire, without faults", "Time to acquire the lock: 50th percentile (dark) and 99th percentile (light). Each " +
				"point is the median of the runs; the line through the point is the 95 % confidence interval (with few runs: the range of " +
				"the values).",
			[]string{"acquire.p50", "acquire.p99"},
			func(c cell) bool { return c.Column == "none" && c.Word == suite.Safe },
		},
		{
			"Time to recover after a fault", "Longest time from the end of a fault until the lock was granted again. If the fault does " +
				"not end or is a fail-over, the time starts when the fault begins. Each point is the median of the runs; the line through " +
				"the point is the 95 % confidence interval (with few runs: the range of the values).",
			[]string{"recovery.median"},
			func(c cell) bool { return c.Column != "none" },
		},
	} {
		if svg, ok := t.bars(p.title, p.names, p.of); ok {
			out = append(out, plotted{p.title, p.text, svg})
		}
	}
	return out
}

// bars are points with intervals on a logarithmic axis of milliseconds, a line for each cell, the
// slowest at the top.
func (t *Table) bars(title string, names []string, of func(cell) bool) (svg template.HTML, ok bool) {
	var cells []cell
	for _, c := range t.Cells {
		if _, has := c.Figures[names[0]]; has && !c.Control && of(c) && c.Figures[names[0]].Value > 0 {
			cells = append(cells, c)
		}
	}
	if len(cells) < 2 {
		return "", false
	}
	slices.SortStableFunc(cells, func(a, b cell) int { return cmp.Compare(b.Figures[names[0]].Value, a.Figures[names[0]].Value) })
	cells = cells[:min(len(cells), maxBars)]
	rows := make([]chart.Row, len(cells))
	for i, c := range cells {
		rows[i].Name = c.Name
		for n, name := range names {
			if v, has := c.Figures[name]; has {
				rows[i].Points = append(rows[i].Points, point(v, []string{chart.Blue, chart.Pale}[n]))
			}
		}
	}
	return template.HTML(chart.Points(title, "milliseconds", rows)), true //nolint:gosec // chart escapes the labels
}

// point is a value in ns as one in ms; a logarithm has no zero.
func point(v tally.Value, colour string) chart.Point {
	const least = 1e-3
	ms := func(ns float64) float64 { return max(ns/1e6, least) }
	return chart.Point{
		Value: ms(v.Value), Low: ms(v.Low), High: ms(v.High), Colour: colour,
		Says: fmt.Sprintf("%.4g ms, from %.4g to %.4g", ms(v.Value), ms(v.Low), ms(v.High)),
	}
}
