package tables

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/pages/chart"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

// picture draws the answers of one claim; empty: they do not have what it needs.
type picture func(answers []cases.ClaimResult) string

// pictures are those of docs/claims.md, by the number of the claim.
var pictures = map[int]picture{8: waitsOf, 19: herd, 28: requestsOf, 30: sweep, 36: speed}

// Pictures are the SVG files of docs/claims.md, by the name of the file.
func Pictures(answers []cases.ClaimResult) map[string][]byte {
	out := map[string][]byte{}
	for number, draw := range pictures {
		var its []cases.ClaimResult
		for _, a := range answers {
			if a.Claim == number {
				its = append(its, a)
			}
		}
		if svg := draw(its); svg != "" {
			out["claim-"+strconv.Itoa(number)+".svg"] = []byte(svg)
		}
	}
	return out
}

// short is the name of a run without that of its claim.
func short(a cases.ClaimResult) string {
	_, name, _ := strings.Cut(a.Run, "/")
	return name
}

// bars are one for each answer, without some that would dwarf the others.
func bars(answers []cases.ClaimResult, title, axis, figure string, scale float64, without ...string) string {
	var all []chart.Bar
	for _, a := range answers {
		if v, ok := a.Figures[figure]; ok && !slices.Contains(without, short(a)) {
			all = append(all, chart.Bar{Name: short(a), Value: float64(v) * scale})
		}
	}
	if len(all) == 0 {
		return ""
	}
	return chart.Bars(title, axis, all)
}

func waitsOf(answers []cases.ClaimResult) string {
	return bars(answers, "50 clients that poll for the lock: longest waits (p99) with random pauses (jitter) and with fixed pauses",
		"seconds", "wait_p99_ns", 1e-9)
}

func requestsOf(answers []cases.ClaimResult) string {
	return bars(answers, "50 waiting clients: requests per hand-off of the lock", "requests", "requests_per_100_handoffs", 0.01)
}

func speed(answers []cases.ClaimResult) string {
	return bars(answers, "one client acquires and releases a lock again and again: grants per second", "grants per second", "grants",
		1.0/3, "file-flock")
}

// herd is notices by the number of clients, with one node and in a queue.
func herd(answers []cases.ClaimResult) string {
	return lines("ZooKeeper: notifications per hand-off of the lock, by number of clients", "clients", "notifications per hand-off",
		curve(answers, "exclusive-", "all clients watch one node", chart.Orange, "notices_per_100_handoffs", 0.01),
		curve(answers, "sequential-", "queue: each client watches the client before it", chart.Blue, "notices_per_100_handoffs", 0.01))
}

// sweep is what is lost and how long a dead holder blocks, by the time to live.
func sweep(answers []cases.ClaimResult) string {
	return lines("lost updates, and seconds from the death of a holder to the next grant, by time to live", "time to live, ms", "",
		curve(answers, "ttl-", "lost updates", chart.Orange, "updates_lost_plain", 1),
		curve(answers, "ttl-", "seconds until the next grant", chart.Blue, "recovery_max_ns", 1e-9))
}

// lines draws the curves that have points.
func lines(title, x, y string, curves ...chart.Line) string {
	curves = slices.DeleteFunc(curves, func(l chart.Line) bool { return len(l.X) == 0 })
	if len(curves) == 0 {
		return ""
	}
	return chart.Lines(title, x, y, curves)
}

// curve is a figure over the number in the names of runs.
func curve(answers []cases.ClaimResult, prefix, label, colour, figure string, scale float64) chart.Line {
	type point struct{ x, y float64 }
	var points []point
	for _, a := range answers {
		text, is := strings.CutPrefix(short(a), prefix)
		x, err := strconv.ParseFloat(strings.TrimSuffix(text, "ms"), 64)
		if v, ok := a.Figures[figure]; ok && is && err == nil {
			points = append(points, point{x, float64(v) * scale})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	l := chart.Line{Name: label, Colour: colour}
	for _, p := range points {
		l.X, l.Y = append(l.X, p.x), append(l.Y, p.y)
	}
	return l
}
