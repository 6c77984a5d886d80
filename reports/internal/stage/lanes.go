package stage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
	bars := slices.DeleteFunc(slices.Clone(c.Truth), func(t Truth) bool { return t.Lock != lock })
	of, n := make([]int, len(bars)), 1
	if c.shares {
		of, n = rows(bars)
	}
	h := max(c.height.truth/float64(n), 9)
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
		left := 1.0
		if b.Due > b.From {
			left = float64(b.Due-min(max(b.Until, b.From), b.Due)) / float64(b.Due-b.From)
		}
		if b.Reads {
			class += " reads"
		}
		fmt.Fprintf(c, `<path class="%s" d="M%s %sL%s %sV%sH%sZ"/>`, class, num(x0), num(y), num(max(x1, x0+1)), num(y+(h-1)*(1-left)),
			num(y+h-1), num(x0))
		c.owner(b, x0, x1, y, h)
	}
	c.y += h*float64(n) + 9
	c.rows = append(c.rows, c.y-9)
}

// owner writes who owns the lock into the bar of a grant, with its token.
func (c *canvas) owner(b Truth, x0, x1, y, h float64) {
	who, token, short := name(b.Client), "", ""
	if b.Token > 0 {
		token = fmt.Sprintf("token %d", b.Token)
		short = who + ", " + token
	}
	at, room := c.past(x0+8, 6.3*float64(len(who)+14)), x1-x0
	switch {
	case room > 130 && h > 20:
		said := who + " owns the lock"
		low, end := h/2+4, x1
		if b.Due > 0 { // the wedge is widest below
			low = max(low, h-14)
			end = x0 + room*(low-9)/h
		}
		c.fits(at, y+low, (end - at), "on b", strings.TrimSuffix(said+", "+token, ", "), short, said, who)
		if b.Until == b.Due {
			c.fits(x1-6, y+13, room*0.4, "s end", "its lease runs out", "lease ends")
		}
	case h > 34 && token != "" && room >= 6.3*float64(len(who)):
		c.fits(x0+room/2, y+h/2-2, room, "on mid b", who)
		c.fits(x0+room/2, y+h/2+12, room, "on mid", token, strconv.FormatInt(b.Token, 10))
	case h > 20:
		c.fits(x0+room/2, y+h/2+3, room, "on mid b", who)
	default:
		c.fits(x0+4, y+h-2, room, "on tiny", who)
	}
}

// ring is a request that waits for ever, by who holds another lock.
type ring struct {
	client string
	x      float64
	holds  int
	wait   Wait
}

// close finds the waits that close the ring of a deadlock.
func (c *canvas) close() {
	for _, l := range c.Lanes {
		for _, w := range l.Waits {
			i := slices.IndexFunc(l.Holds, func(b Belief) bool { return b.Lock != w.Lock && b.From <= w.From && b.To > w.From })
			if c.Ring > 0 && i >= 0 && w.To >= c.To && w.From >= c.From {
				c.rings = append(c.rings, ring{l.Client, c.x(w.From), l.Holds[i].Lock, w})
			}
		}
	}
}

// past is where a text may begin that must not lie under an arrow.
func (c *canvas) past(x, width float64) float64 {
	for _, r := range c.rings {
		if x < r.x+8 && r.x < x+width {
			x = r.x + 8
		}
	}
	return x
}

// cycle draws the ring: from who waits an arrow to the lock.
func (c *canvas) cycle() {
	for _, r := range c.rings {
		y := c.lane[r.client]
		fmt.Fprintf(c, `<path class="ring" d="M%s %sV%sm-4 7l4 -7l4 7"/>`, num(r.x), num(y), num(c.rows[r.wait.Lock]))
		said := fmt.Sprintf("owns %s, waits for %s", name(c.Locks[r.holds]), name(c.Locks[r.wait.Lock]))
		x := c.past(r.x+8, 6.3*float64(len(said)))
		c.fits(x, y+c.height.lane/2+4, c.right-x, "on b", said, "waits for "+name(c.Locks[r.wait.Lock]))
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
	y, h := c.y, c.height.lane
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
	if len(c.Locks) > 1 && b.does == "" && !slices.ContainsFunc(c.rings, func(r ring) bool { return r.client == l.Client }) {
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
