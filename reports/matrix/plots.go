package matrix

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// plotted is a picture of the page.
type plotted struct {
	Title, Text string
	SVG         template.HTML
}

// maxBars bounds a picture.
const maxBars = 40

// plotsOf draws how long it takes to acquire without faults, and how long locks take to come back after
// one: what was not measured has no picture.
func plotsOf(t *Table) ([]plotted, error) {
	var out []plotted
	for _, p := range []struct {
		title, text string
		names       []string
		of          func(Cell) bool
	}{
		{
			"Time to acquire, without faults", "Half of all (dark) and 99 of 100 acquires (light) were granted within this time: medians of the runs, with their intervals.",
			[]string{"acquire.p50", "acquire.p99"},
			func(c Cell) bool { return c.Column == "none" && c.Word == "safe" },
		},
		{
			"Time to recover after a fault", "From the end of a fault to the next grant: median of the longest times of the runs, with its interval.",
			[]string{"recovery.median"},
			func(c Cell) bool { return c.Column != "none" },
		},
	} {
		svg, ok, err := bars(t, p.names, p.of)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, plotted{p.title, p.text, svg})
		}
	}
	return out, nil
}

// colours of the figures of a picture.
var colours = []color.RGBA{{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}, {R: 0x8f, G: 0xb8, B: 0xe0, A: 0xff}}

// bars are points with intervals on a logarithmic axis of milliseconds, a line for each cell, the
// slowest at the top.
func bars(t *Table, names []string, of func(Cell) bool) (svg template.HTML, ok bool, err error) {
	var cells []Cell
	for _, c := range t.Cells {
		if _, has := c.Values[names[0]]; has && !c.Control && of(c) && c.Values[names[0]].Value > 0 {
			cells = append(cells, c)
		}
	}
	if len(cells) < 2 {
		return "", false, nil
	}
	slices.SortStableFunc(cells, func(a, b Cell) int { return cmp.Compare(a.Values[names[0]].Value, b.Values[names[0]].Value) })
	if len(cells) > maxBars {
		cells = cells[len(cells)-maxBars:]
	}
	pl := plot.New()
	pl.BackgroundColor = color.White
	pl.X.Label.Text, pl.X.Scale, pl.X.Tick.Marker = "milliseconds", plot.LogScale{}, decades{}
	labels := make([]string, len(cells))
	for i, c := range cells {
		labels[i] = c.Name
	}
	for n, name := range names {
		if err := addPoints(pl, cells, name, colours[n]); err != nil {
			return "", false, err
		}
	}
	pl.NominalY(labels...)
	pl.Y.Min, pl.Y.Max = -0.5, float64(len(cells))-0.5
	pl.Add(plotter.NewGrid())
	canvas := vgsvg.New(24*vg.Centimeter, vg.Length(3+0.62*float64(len(cells)))*vg.Centimeter)
	pl.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", false, err
	}
	text := b.String()
	if i := strings.Index(text, "<svg"); i > 0 {
		text = text[i:] // without the heading of a file of its own
	}
	return template.HTML(text), true, nil //nolint:gosec // the library escapes the labels
}

// points are values with their intervals, in milliseconds.
type points struct {
	plotter.XYs
	plotter.XErrors
}

func addPoints(pl *plot.Plot, cells []Cell, name string, c color.RGBA) error {
	const least = 1e-3 // a logarithm has no zero
	var p points
	for i, cell := range cells {
		v, ok := cell.Values[name]
		if !ok {
			continue
		}
		x := max(v.Value/1e6, least)
		p.XYs = append(p.XYs, plotter.XY{X: x, Y: float64(i)})
		low, high := x-max(v.Low/1e6, least), v.High/1e6-x
		p.XErrors = append(p.XErrors, struct{ Low, High float64 }{-max(low, 0), max(high, 0)})
	}
	if len(p.XYs) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(p.XYs)
	if err != nil {
		return err
	}
	dots.Color, dots.Shape, dots.Radius = c, draw.CircleGlyph{}, vg.Points(3.5)
	lines, err := plotter.NewXErrorBars(p)
	if err != nil {
		return err
	}
	lines.Color, lines.Width, lines.CapWidth = c, vg.Points(1.2), vg.Points(5)
	pl.Add(lines, dots)
	return nil
}

// decades are the ticks of a logarithmic axis.
type decades struct{}

// Ticks has a label at each power of ten.
func (decades) Ticks(low, high float64) (out []plot.Tick) {
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for m := 1.0; m < 10; m++ {
			v, label := m*math.Pow(10, e), ""
			if m == 1 || m == 2 || m == 5 {
				label = strconv.FormatFloat(v, 'g', -1, 64)
			}
			if v >= low && v <= high {
				out = append(out, plot.Tick{Value: v, Label: label})
			}
		}
	}
	if len(out) == 0 {
		out = append(out, plot.Tick{Value: low, Label: fmt.Sprintf("%.3g", low)})
	}
	return out
}
