package stage

import (
	"fmt"
	"math"
	"strings"
)

// steps are the lines of a staircase in the making.
type steps struct {
	*canvas
	st         *Stair
	at         func(v int64) float64 // the height of a value
	path, area string
	ghost      string // what was acknowledged, from where it parts from the value
	marks      strings.Builder
	value, sum int64   // now, and with all that was acknowledged
	label      float64 // where the last label ends
}

// stair draws the value of a register as a staircase, a cliff where it falls back; dotted, what was acknowledged.
func (c *canvas) stair(st *Stair) {
	height := 150.0
	switch {
	case !c.wide:
		height = 104
	case c.tight:
		height = 130
	}
	most, least, acked := st.Start, st.Start, st.Start
	for _, w := range st.Writes {
		if w.OK {
			acked += max(w.New-w.Base, 0)
			most, least = max(most, w.New, acked), min(least, w.New)
		}
	}
	y0, k := c.y+height-2, (height-46)/float64(max(most-least, 1))
	s := &steps{canvas: c, st: st, value: st.Start, sum: st.Start, label: math.Inf(-1)}
	s.at = func(v int64) float64 { return y0 - 12 - float64(v-least)*k }
	s.path = fmt.Sprintf("M%s %s", num(c.left), num(s.at(st.Start)))
	s.area = s.path
	for _, w := range st.Writes {
		if w.OK {
			s.add(w)
		} else if w.Client == c.Me {
			c.late = append(c.late, mark{c.x(w.At), s.at(s.value), w.Client, true})
		}
	}
	right := num(c.right)
	fmt.Fprintf(c, `<path class="area" d="%sH%sV%sH%sZ"/>`, s.area, right, num(y0), num(c.left))
	if s.ghost != "" && s.sum > s.value && !st.falls {
		fmt.Fprintf(c, `<path class="acked" d="%sH%s"/>`, s.ghost, right)
		c.fits(c.right, s.at(s.sum)-5, 200, "s end halo", "acknowledged")
	}
	fmt.Fprintf(c, `<path class="stair" d="%sH%s"/>%s`, s.path, right, s.marks.String())
	c.line(c.left, y0, c.right, y0, "base")
	more := map[string]string{"plain": "no fence", "fenced": "checks tokens"}[st.Register]
	if st.told {
		more = "as answered"
	}
	c.side(y0-height/2+8, st.Register, more, "")
	c.titled(st.Register)
	c.y += height + 8
}

// add draws an accepted write.
func (s *steps) add(w Write) {
	x, before := s.x(w.At), s.value
	s.value, s.sum = w.New, s.sum+max(w.New-w.Base, 0)
	switch {
	case s.ghost != "":
		s.ghost += fmt.Sprintf("H%sV%s", num(x), num(s.at(s.sum)))
	case s.sum != s.value:
		s.ghost = fmt.Sprintf("M%s %s", num(x), num(s.at(s.sum)))
	}
	y := s.at(w.New)
	s.area += fmt.Sprintf("H%sV%s", num(x), num(y))
	cliff := w.New < before && !s.st.falls
	if cliff {
		s.path += fmt.Sprintf("H%sM%s %s", num(x), num(x), num(y))
		fmt.Fprintf(&s.marks, `<path class="cliff" d="M%s %sV%s"/>`, num(x), num(s.at(before)), num(y))
	} else {
		s.path += fmt.Sprintf("H%sV%s", num(x), num(y))
	}
	switch {
	case w.Wrong || cliff:
		s.late = append(s.late, mark{x, s.at(max(before, w.New)), w.Client, false})
		fmt.Fprintf(&s.marks, `<text x="%s" y="%s" class="red b">%d</text>`, num(x+4), num(y+13), w.New)
		s.label = x + 20
	case x > s.label+18:
		place, class := x+3, "s"
		if place+14 > s.right {
			place, class = x-3, "s end"
		}
		fmt.Fprintf(&s.marks, `<text x="%s" y="%s" class="%s">%d</text>`, num(place), num(y-4), class, w.New)
		s.label = x
	}
}

// titled writes what became of a register over its staircase.
func (c *canvas) titled(register string) {
	t, ok := c.titles[register]
	if !ok {
		return
	}
	class := map[bool]string{true: "title red", false: "title ok"}[t.Bad]
	if !c.wide {
		class += " small"
	}
	short, _, _ := strings.Cut(t.Text, ";")
	c.fits(c.left+8, c.y+16, (c.right-c.left-8)*0.82, class+" halo", t.Text, short, name(short))
}

// strike draws late writes, from the belief of their client to the data, and where a fence turned one away.
func (c *canvas) strike() {
	for _, m := range c.late {
		if lane, ok := c.lane[m.client]; !m.refused && ok {
			c.line(m.x, lane+c.laneHeight, m.x, m.y, "late")
		}
		if !m.refused {
			continue
		}
		fmt.Fprintf(c, `<path class="shield" d="M%s %sH%s"/><path class="bounce" d="M%s %sq6 -20 17 -9l-1 -6m1 6l-6 1"/>`, num(m.x-9),
			num(m.y-3), num(m.x+9), num(m.x), num(m.y-6))
	}
}
