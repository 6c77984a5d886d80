package chart

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"
)

// sound reads a picture as a browser would, and counts its elements.
func sound(t *testing.T, svg string) map[string]int {
	t.Helper()
	count := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF { //nolint:errorlint // as the decoder has it
			return count
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

func TestPictures(t *testing.T) {
	bars := sound(t, Bars("a < b", "seconds", []Bar{{"one & two", 1.5}, {"none", 0}}))
	points := sound(t, Points("times", "milliseconds", []Row{
		{"a", []Point{{1, 0.5, 3, Blue, "1 ms"}, {100, 100, 100, Pale, ""}}},
		{"empty", nil},
	}))
	lines := sound(t, Lines("over", "x", "y", []Line{{"l", Orange, []float64{1, 2, 4}, []float64{0, 3, 9}}}))
	if bars["rect"] != 3 || points["circle"] != 2 || lines["circle"] != 3 || lines["polyline"] != 1 {
		t.Errorf("%v, %v, %v", bars, points, lines)
	}
	for name, svg := range map[string]string{
		"bars": Bars("", "", nil), "points": Points("", "", nil),
		"lines": Lines("", "", "", nil),
	} {
		if sound(t, svg)["svg"] != 1 {
			t.Errorf("%s of nothing: %s", name, svg)
		}
	}
}

// An axis holds its values, has legible ticks, and ends with a tick.
func TestAxes(t *testing.T) {
	for _, highest := range []float64{0, 1e-6, 0.3, 1, 7, 99, 100, 101, 12345, 3e9} {
		a := linear(highest, 0, 600)
		if a.high < highest || len(a.ticks) < 2 || len(a.ticks) > 12 || math.Abs(a.ticks[len(a.ticks)-1].value-a.high) > a.high/1e6 {
			t.Errorf("to %g: %+v", highest, a)
		}
	}
	for _, span := range [][2]float64{{1, 1}, {0.2, 900}, {1e-3, 1e6}, {3, 4}} {
		a := logarithmic(span[0], span[1], 0, 600)
		if a.at(span[0]) < 0 || a.at(span[1]) > 600 || len(a.ticks) == 0 {
			t.Errorf("%v: %+v", span, a)
		}
	}
}
