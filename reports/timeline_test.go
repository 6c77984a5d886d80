package reports

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/beliefs"
)

var (
	counted = regexp.MustCompile(`^(\d+) `)
	stroke  = regexp.MustCompile(`M([\d.]+) ([\d.]+)h([\d.]+)`)
)

// stands is how many things a shape stands for.
func stands(s Shape) int {
	if m := counted.FindStringSubmatch(s.Text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 1
}

// drawn are the columns of pixels that shapes of a class cover in a row, by the row's y.
func drawnOf(t *Timeline, class string) map[int]map[int]bool {
	out := map[int]map[int]bool{}
	cover := func(y, x, w float64) {
		row := int(y-laneTop) / laneHeight
		if out[row] == nil {
			out[row] = map[int]bool{}
		}
		for c := math.Floor(x); c <= math.Floor(x+w); c++ {
			out[row][int(c)] = true
		}
	}
	for _, s := range t.Shapes {
		switch {
		case s.Class != class:
		case s.Kind != "path":
			cover(s.Y, s.X, s.W)
		default:
			for _, m := range stroke.FindAllStringSubmatch(s.Path, -1) {
				var v [3]float64
				for i := range v {
					v[i], _ = strconv.ParseFloat(m[i+1], 64)
				}
				cover(v[1], v[0], v[2])
			}
		}
	}
	return out
}

// Every hold of a long run is in the picture, where it was, in its client's row; counts
// add up; refusals and faults stay, however many ordinary shapes stand around them.
func TestEveryMomentIsDrawn(t *testing.T) {
	for name, clients := range map[string]int{"five": 5, "twenty": 20, "two hundred": 200} {
		t.Run(name, func(t *testing.T) {
			r, rec := longRun(t, clients, 40_000)
			story := Tell(r, rec)
			end := endOf(rec)
			p := newPainter(rec, end, ranked(r, rec, story))
			tl := p.paint("", r, bandsOf(r, rec))
			if len(tl.Shapes) > maxShapes {
				t.Errorf("%d shapes", len(tl.Shapes))
			}
			holds, refusals := drawnOf(tl, "hold"), 0
			missing := 0
			for _, g := range rec.Grants {
				x := int(p.x((beliefs.Hold(rec, g).From + beliefs.Hold(rec, g).To) / 2))
				row := holds[(p.lanes[g.Client]-laneTop)/laneHeight]
				if !row[x] && !row[x-1] && !row[x+1] {
					missing++
				}
				for _, u := range g.Uses {
					if u.Outcome() == history.Fail {
						refusals++
					}
				}
			}
			if missing > 0 {
				t.Errorf("%d of %d holds are not in the picture", missing, len(rec.Grants))
			}
			sum := map[string]int{}
			for _, s := range tl.Shapes {
				sum[s.Class] += stands(s)
			}
			if sum["hold"] != len(rec.Grants) || sum["refused"] != refusals || sum["fault"] != len(rec.Faults) || refusals == 0 {
				t.Errorf("shapes stand for %v; there were %d grants, %d refusals, %d faults", sum, len(rec.Grants), refusals, len(rec.Faults))
			}
			wantRows := min(clients, maxClients)
			if clients > maxClients {
				wantRows++
			}
			if len(tl.Lanes) != wantRows || (clients > maxClients) != strings.Contains(tl.Folded, "the other 180 share the row") {
				t.Errorf("%d rows, %q", len(tl.Lanes), tl.Folded)
			}
		})
	}
}

// The clients of the worst findings have rows of their own, whatever their names.
func TestRowsOfTheWorst(t *testing.T) {
	r, rec := longRun(t, 200, 20_000)
	story := Tell(r, rec)
	p := newPainter(rec, endOf(rec), ranked(r, rec, story))
	tl := p.paint("", r, nil)
	worst := rec.ByID[story.Worst().Grants[0]].Client
	if p.names[p.lanes[worst]] != worst {
		t.Errorf("%s has the row %q", worst, p.names[p.lanes[worst]])
	}
	for i, lane := range tl.Lanes[1:maxClients] {
		if byName(tl.Lanes[i].Name, lane.Name) >= 0 {
			t.Errorf("%s stands before %s", tl.Lanes[i].Name, lane.Name)
		}
	}
}

// Nobody shares a row with himself alone.
func TestOneTooMany(t *testing.T) {
	for n, want := range map[int]int{maxClients: maxClients, maxClients + 1: maxClients + 1, maxClients + 2: maxClients + 1} {
		r, rec := longRun(t, n, 2000)
		p := newPainter(rec, endOf(rec), nil)
		if tl := p.paint("", r, nil); len(tl.Lanes) != want {
			t.Errorf("%d clients have %d rows, want %d", n, len(tl.Lanes), want)
		}
	}
}

// Overlaps beyond those that are listed are in the picture, too.
func TestBandsThatAreNotListed(t *testing.T) {
	r, rec := judged(t, "paused")
	c := r.Checks["mutual-exclusion"]
	listed := bandsOf(r, rec)
	c.Findings = nil
	r.Checks["mutual-exclusion"] = c
	counted := bandsOf(r, rec)
	if len(counted) != len(listed) || len(listed) == 0 {
		t.Fatalf("%v without a list, %v with it", counted, listed)
	}
	for i := range counted {
		if counted[i].Interval != listed[i].Interval || counted[i].text == "" {
			t.Errorf("%v, want %v", counted[i], listed[i])
		}
	}
}

// Few shapes stay as they are: one for each thing that happened.
func TestFewShapesStay(t *testing.T) {
	r, rec := judged(t, "failover")
	for _, s := range newDrawer(r, rec, Tell(r, rec)).whole().Shapes {
		if s.Kind == "path" || stands(s) != 1 || !s.Focus || s.Text == "" {
			t.Errorf("%+v", s)
		}
	}
}

// Items of one pixel are one, gaps are kept while there is room, and marks are not moved.
func TestTrack(t *testing.T) {
	text := func() string { return "one" }
	tr := &track{class: "hold", kind: kindRect, row: "c1", y: 10, h: 4}
	for _, x := range []float64{100.1, 100.4, 101.2, 110, 130} {
		tr.add(item{x: x, end: x + 1, text: text})
	}
	got := tr.sorted()
	if len(got) != 3 || got[0].n != 3 || got[0].end != 102.2 {
		t.Fatalf("%d items, the first of %d until %v", len(got), got[0].n, got[0].end)
	}
	one := grouped(got, 64, 1)
	if len(one) != 2 || len(one[0].pieces) != 2 || one[0].n != 4 {
		t.Fatalf("%+v", one)
	}
	if s := tr.shape(one[0]); s.Path != "M100.1 12h2.1M110 12h1" || s.Kind != "path" ||
		!strings.HasPrefix(s.Text, "4 holds of c1 from") {
		t.Errorf("%+v", s)
	}
	dots := &track{class: "write", kind: kindDot, y: 10}
	for x := 100.0; x < 108; x += 0.25 {
		dots.add(item{x: x, end: x, text: text})
	}
	if got := grouped(dots.sorted(), 4, 1); len(got) != 2 || len(got[0].pieces) != 4 || got[0].n != 16 {
		t.Errorf("%+v", got[0])
	}
	if got := joined([]piece{{1, 1}, {1.5, 1.5}, {2.2, 2.2}}, 1); len(got) != 2 || got[0].end != 1 || got[1].x != 2.2 {
		t.Errorf("marks became %v", got)
	}
}
