package stage

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"slices"
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

	wide, tight bool
	left, right float64
	y           float64
	top, end    float64            // of truth and beliefs
	lane        map[string]float64 // y of the lane of a client
	rows        []float64          // y below the truth of each lock
	laneHeight  float64
	late        []mark // writes that did harm, and requests of the client of the story that the fence refused
}

// mark is a place on a staircase.
type mark struct {
	x, y    float64
	client  string
	refused bool
}

// SVG draws the stage. Its colours are those of the page's style.
func (s *Stage) SVG(width int) string {
	c := &canvas{Stage: s, wide: width >= 600, right: float64(width) - 4, lane: map[string]float64{}, laneHeight: 34, left: 84}
	if !c.wide {
		c.left, c.laneHeight = 46, 26
	}
	if c.tight = c.wide && len(s.Lanes) > 4 && len(s.Stairs) > 1; c.tight {
		c.laneHeight = 27
	}
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
	c.y += 6
	for i := range s.Stairs {
		c.stair(&s.Stairs[i])
	}
	c.strike()
	body := c.String()
	c.Reset()
	c.over()
	under := c.String()
	c.Reset()
	c.beats()
	height := c.y + 14
	return fmt.Sprintf(`<svg class="stage" viewBox="0 0 %d %s" data-left="%s" data-right="%s" role="img">`+
		`<defs><pattern id="hatch%d" width="7" height="7" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">`+
		`<path class="hatching" d="M0 0V7"/></pattern></defs>%s<g class="cursor" hidden="hidden"><path d="M0 %sV%s"/>`+
		`<path class="knob" d="M-5 %sl5 -8l5 8Z"/></g>%s%s<rect class="future" y="%s" height="%s" width="0"/></svg>`,
		width, num(height), num(c.left), num(c.right), width, under, num(c.top-4), num(c.y-2), num(c.y+4), body, c.String(),
		num(c.top-2), num(c.y-c.top))
}

// JSON is what a script needs to say what is true at a moment.
func (s *Stage) JSON() (string, error) {
	b, err := json.Marshal(s)
	return string(b), err
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

// rows puts bars that share a time under each other, and returns the row of each and how many there are.
func rows(bars []Truth) (of []int, n int) {
	var ends []int64
	for _, b := range bars {
		i := slices.IndexFunc(ends, func(e int64) bool { return e <= b.From })
		if i < 0 {
			i = len(ends)
			ends = append(ends, 0)
		}
		ends[i] = b.Until
		of = append(of, i)
	}
	return of, max(len(ends), 1)
}

// truth draws what the store kept of a lock: a bar for each grant; the wedge in it is the lease that is left.
func (c *canvas) truth(lock int) {
	height := 44.0
	if !c.wide {
		height = 32
	}
	bars := slices.DeleteFunc(slices.Clone(c.Truth), func(t Truth) bool { return t.Lock != lock })
	of, n := make([]int, len(bars)), 1
	if c.shares {
		of, n = rows(bars)
	}
	h := max(height/float64(n), 9)
	what := "the truth"
	if !c.wide {
		what = "truth"
	}
	if len(c.Locks) > 1 {
		what = c.Locks[lock]
	}
	c.side(c.y+h*float64(n)/2, what, "in the store", "")
	for i, b := range bars {
		y, class := c.y+float64(of[i])*h, c.hue(b.Client)
		x0, x1 := c.x(b.From), c.x(b.Until)
		c.rect(b.From, b.Until, y, h-1, class+"-pale", fmt.Sprintf("%s owns the lock from %s to %s", b.Client, c.seconds(b.From),
			c.seconds(min(b.Until, c.To))))
		left := 0.0
		if b.Due > 0 && b.Due > b.From {
			left = float64(b.Due-min(max(b.Until, b.From), b.Due)) / float64(b.Due-b.From)
		} else {
			left = 1
		}
		if b.Reads {
			class += " reads"
		}
		fmt.Fprintf(c, `<path class="%s" d="M%s %sL%s %sV%sH%sZ"/>`, class, num(x0), num(y), num(max(x1, x0+1)), num(y+(h-1)*(1-left)),
			num(y+h-1), num(x0))
		token := ""
		if b.Token > 0 {
			token = fmt.Sprintf(", token %d", b.Token)
		}
		switch room := x1 - x0; {
		case room > 130 && h > 20:
			c.fits(x0+8, y+h-14, room*0.7, "on b", name(b.Client)+" owns the lock"+token, name(b.Client)+token, name(b.Client))
			if b.Until == b.Due {
				c.fits(x1-6, y+13, room*0.4, "s end", "its lease runs out", "lease ends")
			}
		case h > 20:
			c.fits(x0+room/2, y+h/2+3, room, "on mid b", name(b.Client))
		default:
			c.fits(x0+4, y+h-2, room, "on tiny", name(b.Client))
		}
	}
	c.y += h*float64(n) + 9
	c.rows = append(c.rows, c.y-9)
}

// cycle draws, from who holds a lock and waits for another one until the end, an arrow to what it waits for.
func (c *canvas) cycle() {
	if c.Free || len(c.Locks) < 2 {
		return
	}
	for _, l := range c.Lanes {
		for _, w := range l.Waits {
			holds := slices.ContainsFunc(l.Holds, func(b Belief) bool { return b.Lock != w.Lock && b.From <= w.From && b.To > w.From })
			if !holds || w.To < c.To || w.From < c.From {
				continue
			}
			x, y, to := c.x(w.From), c.lane[l.Client], c.rows[w.Lock]
			fmt.Fprintf(c, `<path class="ring" d="M%s %sV%sm-4 7l4 -7l4 7"/>`, num(x), num(y), num(to))
			c.fits(x+8, y+c.laneHeight/2+4, c.right-x, "on b", "waits for "+name(c.Locks[w.Lock]))
		}
	}
}

// reign draws which server led.
func (c *canvas) reign() {
	if len(c.leads) == 0 {
		return
	}
	const h = 18.0
	var ends []float64 // of the rows: two may lead at once
	for _, l := range c.leads {
		if l.From > c.To || l.To < c.From {
			continue
		}
		x0, x1 := c.x(l.From), c.x(l.To)
		row := slices.IndexFunc(ends, func(end float64) bool { return end <= x0 })
		if row < 0 {
			row, ends = len(ends), append(ends, 0)
		}
		ends[row] = x1
		y := c.y + h*float64(row)
		c.rect(l.From, l.To, y, h-2, "other-pale", fmt.Sprintf("%s is %s from %s", l.Name, l.What, c.seconds(l.From)))
		c.fits(x0+5, y+12, x1-x0-5, "s", name(l.Name)+" is "+l.What, name(l.Name))
	}
	if len(ends) > 0 {
		c.side(c.y+8, "servers", "", "")
		c.y += h*float64(len(ends)) + 4
	}
}

// belief draws what a client believed: solid where it was right, hatched where it was wrong.
func (c *canvas) belief(l *Lane) {
	y, h := c.y, c.laneHeight
	mid := y + h/2
	c.lane[l.Client] = y
	class := c.hue(l.Client)
	c.side(mid, l.Client, map[bool]string{true: "works", false: "believes"}[c.Free], map[bool]string{true: "mine"}[class == "me"])
	c.line(c.left, mid, c.right, mid, "rest")
	for _, w := range l.Waits {
		if x0, x1 := c.x(w.From), c.x(w.To); w.To >= c.From && w.From <= c.To {
			c.line(x0, mid, x1, mid, "wait")
			if x1-x0 > 90 {
				c.text(x0+8, mid+4, "waits", "s halo")
			}
		}
	}
	for _, b := range l.Holds {
		c.hold(l, b, y, h, class)
	}
	for _, f := range l.faults {
		x0, x1 := c.x(f.From), c.x(f.To)
		c.line(x0, y+h+2, max(x1, x0+3), y+h+2, "hurt")
		if !slices.ContainsFunc(l.Holds, func(b Belief) bool { return b.From < f.To && b.To > f.From }) {
			c.fits(x0+4, mid-4, x1-x0, "s halo", f.What)
		}
	}
	c.y += h + 7
}

// hold draws one hold; the part of it in which its client could not act is pale.
func (c *canvas) hold(l *Lane, b Belief, y, h float64, class string) {
	right := min(max(b.Until, b.From), b.To) // until then the belief was right
	token := ""
	if b.Token > 0 {
		token = fmt.Sprintf(" (token %d)", b.Token)
	}
	solid := right
	if b.Over > 0 {
		solid = min(max(b.Over, b.From), right)
		c.rect(solid, right, y, h, class+"-pale", "its lease is over, and nobody else has the lock")
	}
	c.rect(b.From, solid, y, h, class, fmt.Sprintf("%s believes that it owns the lock%s from %s to %s", l.Client, token,
		c.seconds(b.From), c.seconds(b.To)))
	if len(c.Locks) > 1 && b.does == "" {
		b.does = "owns " + name(c.Locks[b.Lock])
	}
	if b.does != "" {
		c.fits(c.x(b.From)+5, y+h/2+4, c.x(right)-c.x(b.From)-5, "on", b.does)
	}
	doing := ""
	for _, f := range l.faults {
		from, to := max(f.From, b.From), min(f.To, right)
		if from >= to {
			if f.From < b.To && f.To > b.From {
				doing = f.What
			}
			continue
		}
		doing = f.What
		c.rect(from, to, y, h, class+"-pale", f.Name)
		c.fits(c.x(from)+8, y+h/2+4, c.x(to)-c.x(from)-8, map[bool]string{true: "mine b", false: "b"}[class == "me"],
			f.What+", and sure that it owns the lock", f.What+", and sure", f.What)
	}
	if b.To <= right {
		return
	}
	c.rect(right, b.To, y, h, "wrong", fmt.Sprintf("%s still believes that it owns the lock, from %s to %s: wrong", l.Client,
		c.seconds(right), c.seconds(b.To)))
	c.rect(right, b.To, y, h, map[bool]string{true: "hatch", false: "hatch narrow"}[c.wide], "")
	room := c.x(b.To) - c.x(right)
	still := "still sure: wrong"
	if doing != "" {
		still = "still " + doing + ", still sure: wrong"
	}
	c.fits(c.x(right)+room/2, y+h/2+4, room, "red b mid halo", still, "still sure: wrong", "wrong", "!")
}

// over draws what lies below all else: the grid, faults of servers, and the ends of leases on which the story turns.
func (c *canvas) over() {
	for _, f := range c.faults {
		c.rect(f.From, f.To, c.top-4, c.end-c.top, "faulty", f.Name)
		c.fits(c.x(f.From)+4, c.end-2, c.x(f.To)-c.x(f.From), "s", f.Name, f.What)
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
			cx = min(cx, c.right-8)
		}
		fmt.Fprintf(c, `<g class="beat%s" data-beat="%d"><circle cx="%s" cy="10" r="8"/>`, map[bool]string{true: " bug"}[b.Bad], i, num(cx))
		c.text(cx, 14, strconv.Itoa(i+1), "on mid b")
		if edge = cx + 10; word {
			c.text(cx+12, 14, b.Word, "b")
			edge = cx + w
		}
		fmt.Fprintf(c, `<path class="brace" d="M%s %sv6"/></g>`, num(x), num(c.top-8))
	}
}
