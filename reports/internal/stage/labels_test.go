package stage

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// crowded is a picture whose register climbs in close steps and falls twice, with what was acknowledged above it.
func crowded(steps int) *Stage {
	const second = int64(1e9)
	s := &Stage{
		To: 3 * second, Me: "c1", Locks: []string{"L1"}, Truth: []Truth{{Client: "c1", Token: 7, From: 0, Until: second, Due: second}},
		Lanes: []Lane{{Client: "c1", Holds: []Belief{{From: 0, To: 2 * second, Until: second}}}},
		titles: map[string]Title{
			"plain": {"No fence: 7 acknowledged updates gone", true}, "fenced": {"With a fence: the late write bounces off", false},
		},
	}
	for _, register := range []string{"plain", "fenced"} {
		st := Stair{Register: register}
		value := int64(0)
		for i := range int64(steps) {
			at := second + i*second*3/2/int64(steps)
			w := Write{At: at, Client: "c2", Base: value, New: value + 1, OK: true}
			if i%9 == 8 {
				w = Write{At: at, Client: "c1", Base: value - 5, New: value - 4, OK: register == "plain", Wrong: register == "plain"}
			}
			if w.OK {
				value = w.New
			}
			st.Writes = append(st.Writes, w)
		}
		s.Stairs = append(s.Stairs, st)
	}
	return s
}

var (
	texts = regexp.MustCompile(`<text x="([\d.-]+)" y="([\d.-]+)" class="((?:s|red b|s halo|title [^"]*)(?: end)?)">([^<]*)</text>`)
	lates = regexp.MustCompile(`class="late" d="M([\d.-]+) ([\d.-]+)L[\d.-]+ ([\d.-]+)"`)
)

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// No value of a staircase lies on another one, on its title or on a late write, and none is out of the picture.
func TestLabelsDoNotCollide(t *testing.T) {
	for _, width := range []int{Wide, Narrow} {
		for _, steps := range []int{5, 12, 30, 90} {
			svg := crowded(steps).SVG(width)
			var boxes []box
			var names []string
			for _, m := range texts.FindAllStringSubmatch(svg, -1) {
				x, y, w := number(t, m[1]), number(t, m[2]), 6*float64(len([]rune(m[4])))
				if !strings.Contains(m[3], "title") && strings.Trim(m[4], "0123456789") != "" && m[4] != "acknowledged" {
					continue
				}
				b := box{x, y - 8, x + w, y + 1}
				for i, o := range boxes {
					if b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1 {
						t.Errorf("%d, %d steps: %q lies on %q", width, steps, m[4], names[i])
					}
				}
				for _, l := range lates.FindAllStringSubmatch(svg, -1) {
					if at, from, to := number(t, l[1]), number(t, l[2]), number(t, l[3]); b.x0 < at && at < b.x1 && b.y1 > from && b.y0 < to &&
						!strings.Contains(m[3], "title") {
						t.Errorf("%d, %d steps: a late write strikes %q", width, steps, m[4])
					}
				}
				if b.x1 > float64(width)+1 {
					t.Errorf("%d, %d steps: %q ends at %.0f", width, steps, m[4], b.x1)
				}
				boxes, names = append(boxes, b), append(names, m[4])
			}
			if len(boxes) < 4 || !strings.Contains(svg, "bounces off") || !strings.Contains(svg, "updates gone") {
				t.Errorf("%d, %d steps: only %q", width, steps, names)
			}
		}
	}
}

// Each bar that has room for it says its token; what is high enough fills the screen.
func TestBars(t *testing.T) {
	s := crowded(5)
	s.Truth = append(s.Truth, Truth{Client: "c2", Token: 8, From: 11e8, Until: 13e8})
	s.Truth = append(s.Truth, Truth{Client: "c3", Token: 9, From: 14e8, Until: 17e8})
	svg := s.SVG(Wide)
	for _, token := range []string{">c1, token 7<", ">token 8<", ">token 9<"} {
		if !strings.Contains(svg, token) {
			t.Errorf("no %q", token)
		}
	}
	for _, stairs := range []int{0, 1, 2} {
		low := *s
		low.Stairs = s.Stairs[:stairs]
		var height float64
		_, err := fmt.Sscanf(low.SVG(Wide), `<svg class="stage" viewBox="0 0 880 %f"`, &height)
		if err != nil || height < 455 || height > 625 {
			t.Errorf("with %d registers it is %.0f high (%v)", stairs, height, err)
		}
	}
}
