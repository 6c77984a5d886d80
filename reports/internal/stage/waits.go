package stage

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// waitParts is how many parts of the run have points of their own; waitLeast how many grants are worth a plot.
const (
	waitParts = 60
	waitLeast = 20
)

// Waits draws how long clients waited for the lock, over the whole run: p50 and p99 of the grants of each part, on a logarithmic
// axis, shaded by faults. It returns "" where there were few grants.
func Waits(rec *history.Record, until int64, width int) string {
	c := &canvas{Stage: &Stage{To: max(until, 1)}, wide: true, left: 60, right: float64(width) - 4, top: 24}
	parts := make([][]int64, waitParts)
	n, least, most := 0, int64(math.MaxInt64), int64(0)
	for _, g := range rec.Grants {
		if !g.Granted() || g.From() > c.To {
			continue
		}
		wait := max(g.From()-g.Acquire.Start(), 1)
		i := min(g.From()*waitParts/c.To, waitParts-1)
		parts[i] = append(parts[i], wait)
		n, least, most = n+1, min(least, wait), max(most, wait)
	}
	if n < waitLeast {
		return ""
	}
	c.end = c.top + 120
	c.y = c.end + 6
	low, high := math.Floor(math.Log10(float64(least))), math.Ceil(math.Log10(float64(most)+1))
	at := func(ns int64) float64 { return c.end - (math.Log10(float64(ns))-low)/(high-low)*(c.end-c.top) }
	end := int64(0) // of what is shaded: faults that meet, or are closer than can be seen, are one
	for _, f := range rec.Faults {
		if !f.Effective() || max(f.Until(), f.Effect.Time) <= end {
			continue
		}
		from := max(f.Began(), end)
		end = max(f.Until(), f.Effect.Time, from+c.To/600)
		c.rect(from, end, c.top, c.end-c.top, "faulty", f.Fault.Fault+" "+f.Whom())
	}
	c.over()
	for p := low; p <= high; p++ {
		ns := int64(math.Pow(10, p))
		c.line(c.left, at(ns), c.right, at(ns), "grid")
		c.text(c.left-6, at(ns)+4, checker.Millis(ns), "s end")
	}
	c.wait(parts, 99, at)
	c.wait(parts, 50, at)
	c.text(c.left, 14, "● p50   ○ p99 of the grants of each moment; shaded: faults", "s")
	return fmt.Sprintf(`<svg class="stage waits" viewBox="0 0 %d %s" role="img" `+
		`aria-label="time to acquire the lock over the run">%s</svg>`,
		width, num(c.y+12), c.String())
}

// wait draws one percentile of each part, and a line through those that follow each other.
func (c *canvas) wait(parts [][]int64, hundredth int, at func(int64) float64) {
	class := map[bool]string{true: "median", false: "tail"}[hundredth == 50]
	var dots, path strings.Builder
	pen := "M"
	for i, all := range parts {
		if len(all) == 0 {
			pen = "M"
			continue
		}
		slices.Sort(all)
		v := checker.Percentile(all, hundredth)
		x, y := num(c.x(c.To*int64(2*i+1)/(2*waitParts))), num(at(v))
		fmt.Fprintf(&path, "%s%s %s", pen, x, y)
		fmt.Fprintf(&dots, `<circle class="%s" cx="%s" cy="%s" r="2.5"><title>p%d %s of %s</title></circle>`, class, x, y, hundredth,
			checker.Millis(v), checker.Count(len(all), "grant"))
		pen = "L"
	}
	fmt.Fprintf(c, `<path class="%s" d="%s"/>%s`, class, path.String(), dots.String())
}
