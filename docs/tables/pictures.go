package tables

import (
	"bytes"
	"cmp"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/lockstorm/lockstorm/suite/own"
)

// picture draws the answers of one claim; false: they do not have what it needs.
type picture func(pl *plot.Plot, answers []own.Answer) bool

// pictures are those of docs/claims.md, by the number of the claim.
var pictures = map[int]picture{8: waitsOf, 19: herd, 28: requestsOf, 30: sweep, 36: speed}

// Pictures are the SVG files of docs/claims.md, by the name of the file.
func Pictures(answers []own.Answer) (map[string][]byte, error) {
	out := map[string][]byte{}
	for number, draws := range pictures {
		pl := plot.New()
		pl.BackgroundColor = color.White
		var own []own.Answer
		for _, a := range answers {
			if a.Claim == number {
				own = append(own, a)
			}
		}
		if !draws(pl, own) {
			continue
		}
		canvas := vgsvg.New(18*vg.Centimeter, 8*vg.Centimeter)
		pl.Draw(draw.New(canvas))
		var b bytes.Buffer
		if _, err := canvas.WriteTo(&b); err != nil {
			return nil, err
		}
		out["claim-"+strconv.Itoa(number)+".svg"] = b.Bytes()
	}
	return out, nil
}

var (
	blue   = color.RGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}
	orange = color.RGBA{R: 0xc7, G: 0x5b, B: 0x12, A: 0xff}
)

// short is the name of a run without that of its claim.
func short(a own.Answer) string {
	_, name, _ := strings.Cut(a.Run, "/")
	return name
}

// bars are one for each answer, without some that would dwarf the others.
func bars(pl *plot.Plot, answers []own.Answer, figure, label string, scale float64, without ...string) bool {
	var values plotter.Values
	var names []string
	for _, a := range answers {
		if v, ok := a.Figures[figure]; ok && !slices.Contains(without, short(a)) {
			values, names = append(values, float64(v)*scale), append(names, short(a))
		}
	}
	if len(values) == 0 {
		return false
	}
	chart, err := plotter.NewBarChart(values, 9)
	if err != nil {
		return false
	}
	chart.Color, chart.LineStyle.Width, chart.Horizontal = blue, 0, true
	pl.Add(chart)
	pl.NominalY(names...)
	pl.X.Label.Text, pl.X.Min = label, 0
	return true
}

func waitsOf(pl *plot.Plot, answers []own.Answer) bool {
	pl.Title.Text = "50 clients that poll: the longest waits (p99) by how they pause"
	return bars(pl, answers, "wait_p99_ns", "seconds", 1e-9)
}

func requestsOf(pl *plot.Plot, answers []own.Answer) bool {
	pl.Title.Text = "50 clients that wait: requests a hand-off"
	return bars(pl, answers, "requests_per_100_handoffs", "requests", 0.01)
}

func speed(pl *plot.Plot, answers []own.Answer) bool {
	pl.Title.Text = "one client: times that a lock of a server was taken and given back, a second"
	return bars(pl, answers, "grants", "a second", 1.0/3, "file-flock")
}

// herd is notices by the number of clients, with one node and in a queue.
func herd(pl *plot.Plot, answers []own.Answer) bool {
	pl.Title.Text = "ZooKeeper: notices a hand-off, by the number of clients"
	pl.X.Label.Text, pl.Y.Label.Text = "clients", "notices a hand-off"
	drawn := false
	for _, one := range []struct {
		prefix, label string
		color         color.Color
	}{{"exclusive-", "one node, all watch it", orange}, {"sequential-", "a queue, each watches the one before", blue}} {
		drawn = curve(pl, answers, one.prefix, one.label, one.color, "notices_per_100_handoffs", 0.01) || drawn
	}
	return drawn
}

// sweep is what is lost and how long a dead holder blocks, by the time to live.
func sweep(pl *plot.Plot, answers []own.Answer) bool {
	pl.Title.Text = "updates lost, and seconds until the next grant after a death, by the time to live"
	pl.X.Label.Text = "time to live, ms"
	lost := curve(pl, answers, "ttl-", "updates lost", orange, "updates_lost_plain", 1)
	return curve(pl, answers, "ttl-", "seconds without the lock", blue, "recovery_max_ns", 1e-9) || lost
}

// curve is a figure over the number in the names of runs.
func curve(pl *plot.Plot, answers []own.Answer, prefix, label string, c color.Color, figure string, scale float64) bool {
	var points plotter.XYs
	for _, a := range answers {
		text, is := strings.CutPrefix(short(a), prefix)
		x, err := strconv.ParseFloat(strings.TrimSuffix(text, "ms"), 64)
		if v, ok := a.Figures[figure]; ok && is && err == nil {
			points = append(points, plotter.XY{X: x, Y: float64(v) * scale})
		}
	}
	if len(points) == 0 {
		return false
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return false
	}
	line.Color, line.Width, marks.Color = c, vg.Points(1.5), c
	pl.Add(line, marks)
	pl.Legend.Add(label, line, marks)
	pl.Legend.Top, pl.Legend.Left = true, true
	pl.Y.Min = 0
	return true
}
