package stage

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Widths of the pictures of a page: beside the story, on a phone, over all of it.
const (
	Wide   = 880
	Narrow = 360
	Whole  = 1200
)

// canvas draws a stage at a width.
type canvas struct {
	*Stage
	strings.Builder

	wide        bool
	left, right float64
	y           float64
	top, end    float64            // of truth and beliefs
	lane        map[string]float64 // y of the lane of a client
	rows        []float64          // y below the truth of each lock
	height      heights
	late        []mark // writes that did harm, and requests of the client of the story that the fence refused
	rings       []ring
	captions    string // titles of staircases
	taken       []box  // of the staircase at hand, where no label may lie
}

// heights are those of one row of each kind.
type heights struct{ truth, job, lane, stair float64 }

// mark is a place on a staircase.
type mark struct {
	x, y    float64
	client  string
	refused bool
}

// tall is the least height of a wide picture: with it the stage fills 60 % of a screen of 800 pixels; more where the story and
// what is told of a moment, which stand beside it, need more. These are in pixels of the page, of which a unit is 0.93.
func (s *Stage) tall() float64 {
	const least, most, letters, line, row, scrubber, unit = 458, 610, 37, 18, 24.5, 34, 0.93
	beside := row * float64(3+len(s.Stairs)+len(s.Lanes)+min(len(s.Periods), 1))
	for _, b := range s.Beats {
		beside += 28 + line*math.Ceil(float64(len([]rune(b.Text)))/letters)
	}
	return min(max((beside-scrubber)/unit, least), most)
}

// SVG draws the stage. Its colours are those of the page's style.
func (s *Stage) SVG(width int) string {
	h := heights{44, 30, 34, 150}
	switch wide := width >= 600; {
	case !wide:
		h = heights{32, 30, 26, 104}
	case len(s.Lanes) > 4 && len(s.Stairs) > 1:
		h.lane, h.stair = 27, 130
	}
	svg, height := s.draw(width, h)
	if more := s.tall() - height; width >= 600 && more > 0 {
		locks := len(s.Locks)
		if s.Free {
			locks = 0
		}
		more /= float64(locks + min(len(s.Periods), 1) + len(s.Lanes) + 3*len(s.Stairs))
		svg, _ = s.draw(width, heights{h.truth + more, h.job + more, h.lane + more, h.stair + 3*more})
	}
	return svg
}

// draw draws the stage, and returns how high it is.
func (s *Stage) draw(width int, h heights) (svg string, height float64) {
	c := &canvas{Stage: s, wide: width >= 600, right: float64(width) - 4, lane: map[string]float64{}, height: h, left: 84}
	if !c.wide {
		c.left = 46
	}
	c.close()
	c.y = 28
	c.top = c.y
	for i := range s.Locks {
		if !s.Free {
			c.truth(i)
		}
	}
	if len(s.Periods) > 0 {
		c.done()
	}
	c.reign()
	for i := range s.Lanes {
		c.belief(&s.Lanes[i])
	}
	c.cycle()
	if s.others > 0 {
		c.text(0, c.y+10, fmt.Sprintf("and %d other clients", s.others), "s")
		c.y += 16
	}
	c.end = c.y
	c.y += 12 // the names of faults
	for i := range s.Stairs {
		c.stair(&s.Stairs[i])
	}
	c.strike()
	c.WriteString(c.captions) // over what crosses them
	body := c.String()
	c.Reset()
	c.over()
	under := c.String()
	c.Reset()
	c.beats()
	height = c.y + 14
	return fmt.Sprintf(`<svg class="stage" viewBox="0 0 %d %s" data-left="%s" data-right="%s" role="img">`+
		`<defs><pattern id="hatch%d" width="7" height="7" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">`+
		`<path class="hatching" d="M0 0V7"/></pattern></defs>%s<g class="cursor" hidden="hidden"><path d="M0 %sV%s"/>`+
		`<path class="knob" d="M-5 %sl5 -8l5 8Z"/></g>%s%s<rect class="future" y="%[12]s" height="%[13]s" width="0"/>`+
		`<rect class="range before" y="%[12]s" height="%[13]s" width="0"/>`+
		`<rect class="range after" y="%[12]s" height="%[13]s" width="0"/></svg>`,
		width, num(height), num(c.left), num(c.right), width, under, num(c.top-4), num(c.y-2), num(c.y+4), body, c.String(),
		num(c.top-2), num(c.y-c.top)), height
}

func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// x is the place of a moment.
func (c *canvas) x(t int64) float64 {
	t = min(max(t, c.From), c.To)
	return c.left + float64(t-c.From)/float64(c.To-c.From)*(c.right-c.left)
}

const maxName = 24

func name(s string) string {
	if r := []rune(s); len(r) > maxName {
		s = string(r[:maxName-1]) + "…"
	}
	return s
}

func (c *canvas) text(x, y float64, s, class string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" class="%s">%s</text>`, num(x), num(y), class, html.EscapeString(s))
}

// fits draws a text if there is room for it.
func (c *canvas) fits(x, y, room float64, class string, texts ...string) {
	for _, s := range texts {
		if s != "" && float64(len([]rune(s)))*6.3 <= room {
			c.text(x, y, s, class)
			return
		}
	}
}

func (c *canvas) rect(from, to int64, y, h float64, class, title string) {
	if to < c.From || from > c.To {
		return
	}
	x := c.x(from)
	fmt.Fprintf(c, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`, class, num(x), num(y),
		num(max(c.x(to)-x, 1)), num(h), html.EscapeString(title))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(c, `<path class="%s" d="M%s %sL%s %s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

// side is the name of a row, with a remark where there is room.
func (c *canvas) side(y float64, s, more, class string) {
	if !c.wide {
		c.text(0, y+4, string([]rune(s)[:min(len([]rune(s)), 7)]), "b "+class)
		return
	}
	c.text(0, y-2, name(s), "b "+class)
	c.text(0, y+12, more, "s")
}

func (c *canvas) hue(client string) string {
	if client == c.Me {
		return "me"
	}
	return "other"
}

func (c *canvas) seconds(t int64) string { return fmt.Sprintf("%.3f s", float64(t)/1e9) }

// over draws what lies below all else: the grid, faults of servers, and the ends of leases on which the story turns.
func (c *canvas) over() {
	for _, f := range c.faults {
		c.rect(f.From, f.To, c.top-4, c.end-c.top, "faulty", f.Name)
		c.fits(c.x(f.From)+4, c.end+7, c.x(f.To)-c.x(f.From), "s", f.Name, f.What)
	}
	for t, step := c.tick(); t <= c.To; t += step {
		x := c.x(t)
		c.line(x, c.top, x, c.y-6, "grid")
		c.text(x, c.y+10, strconv.FormatFloat(float64(t)/1e9, 'f', -1, 64)+" s", "s mid")
	}
}

// tick is the first round moment and the step from one to the next: one in some 130 units.
func (c *canvas) tick() (first, step int64) {
	raw := float64(c.To-c.From) * 130 / (c.right - c.left)
	size := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if size*m >= raw {
			size *= m
			break
		}
	}
	step = max(int64(size), 1)
	return (c.From + step - 1) / step * step, step
}

// beats draws the numbers of the story over the picture, with their words where there is room. None covers another one.
func (c *canvas) beats() {
	edge := math.Inf(-1) // where the last one ends
	for i, b := range c.Beats {
		x, next := c.x(b.At), c.right+4
		if i+1 < len(c.Beats) {
			next = max(c.x(c.Beats[i+1].At)-10, x)
		}
		w := float64(len([]rune(b.Word)))*7 + 14
		cx, word := max(x, edge+10), c.wide
		switch {
		case c.wide && cx+w <= next:
		case c.wide && x-w-10 > edge: // it stands before its moment
			cx = x - w
		default:
			word = false
			cx = min(cx, c.right+6)
		}
		fmt.Fprintf(c, `<g class="beat%s" data-beat="%d"><circle cx="%s" cy="10" r="8"/>`,
			map[bool]string{true: " bug"}[b.Bad], i, num(cx))
		c.text(cx, 14, strconv.Itoa(i+1), "on mid b")
		if edge = cx + 10; word {
			c.text(cx+12, 14, b.Word, "b")
			edge = cx + w + 4
		}
		fmt.Fprintf(c, `<path class="brace" d="M%s %sv6"/></g>`, num(x), num(c.top-8))
	}
}
