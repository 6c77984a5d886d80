package stage

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// box is a part of a picture.
type box struct{ x0, y0, x1, y1 float64 }

// take keeps labels off a line or a mark.
func (c *canvas) take(x0, y0, x1, y1 float64) {
	c.taken = append(c.taken, box{min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)})
}

// free reports whether a label would lie in the picture, and on nothing else.
func (c *canvas) free(b box) bool {
	return b.x0 >= c.left && b.x1 <= c.right && !slices.ContainsFunc(c.taken, func(o box) bool {
		return b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1
	})
}

// label writes a text at a point of a staircase: above it, else before it, else under the line. It reports whether one was free.
func (c *canvas) label(x, y float64, class, s string) bool {
	w := float64(len([]rune(s)))*6.3 + 2
	for _, at := range [][2]float64{{x + 2, y - 4}, {x - 3 - w, y - 4}, {x + 3, y + 13}, {x - 4 - w, y + 13}} {
		if b := (box{at[0], at[1] - 9, at[0] + w, at[1] + 2}); c.free(b) {
			c.text(at[0]+1, at[1], s, class)
			c.taken = append(c.taken, b)
			return true
		}
	}
	return false
}

// steps are the lines of a staircase in the making.
type steps struct {
	*canvas
	st         *Stair
	at         func(v int64) float64 // the height of a value
	path, area string
	ghost      string // what was acknowledged, from where it parts from the value
	marks      strings.Builder
	value, sum int64   // now, and with all that was acknowledged
	stood      float64 // where the line has come to
	parted     float64 // where the ghost has come to
}

// stair draws the value of a register as a staircase, a cliff where it falls back; dotted, what was acknowledged.
func (c *canvas) stair(st *Stair) {
	height := c.height.stair
	most, least, acked := st.Start, st.Start, st.Start
	for _, w := range st.Writes {
		if w.OK {
			acked += max(w.New-w.Base, 0)
			most, least = max(most, w.New, acked), min(least, w.New)
		}
	}
	c.taken = nil
	c.titled(st.Register)
	y0, k := c.y+height-2, (height-46)/float64(max(most-least, 1))
	s := &steps{canvas: c, st: st, value: st.Start, sum: st.Start, stood: c.left}
	s.at = func(v int64) float64 { return y0 - 12 - float64(v-least)*k }
	s.path = fmt.Sprintf("M%s %s", num(c.left), num(s.at(st.Start)))
	s.area = s.path
	for _, w := range st.Writes {
		if w.OK {
			s.add(w)
		} else if x, y := c.x(w.At), s.at(s.value); w.Client == c.Me {
			c.late = append(c.late, mark{x, y, w.Client, true})
			c.take(x-10, y-28, x+20, y)
		}
	}
	s.on(c.right, s.value)
	right := num(c.right)
	fmt.Fprintf(c, `<path class="area" d="%sH%sV%sH%sZ"/>`, s.area, right, num(y0), num(c.left))
	if s.ghost != "" && s.sum > s.value && !st.falls {
		fmt.Fprintf(c, `<path class="acked" d="%sH%s"/>`, s.ghost, right)
		c.take(s.parted, s.at(s.sum)-1, c.right, s.at(s.sum)+1)
	}
	fmt.Fprintf(c, `<path class="stair" d="%sH%s"/>%s`, s.path, right, s.marks.String())
	c.line(c.left, y0, c.right, y0, "base")
	s.labels()
	more := map[string]string{"plain": "no fence", "fenced": "checks tokens"}[st.Register]
	if st.told {
		more = "as answered"
	}
	c.side(y0-height/2+8, st.Register, more, "")
	c.y += height + 8
}

// on keeps labels off the line from where it stands to x, and from there to the height of a value.
func (s *steps) on(x float64, v int64) {
	y := s.at(s.value)
	s.take(s.stood, y-1, x, y+1)
	s.take(x-1, y, x+1, s.at(v))
	s.stood = x
}

// fell reports whether a write is one that did harm.
func (s *steps) fell(w Write, before int64) bool { return w.Wrong || w.New < before && !s.st.falls }

// add draws an accepted write.
func (s *steps) add(w Write) {
	x, before, acked := s.x(w.At), s.value, s.sum
	s.on(x, w.New)
	s.value, s.sum = w.New, s.sum+max(w.New-w.Base, 0)
	switch {
	case s.ghost != "":
		s.ghost += fmt.Sprintf("H%sV%s", num(x), num(s.at(s.sum)))
		s.take(s.parted, s.at(acked)-1, x, s.at(acked)+1)
		s.take(x-1, s.at(acked), x+1, s.at(s.sum))
	case s.sum != s.value:
		s.ghost = fmt.Sprintf("M%s %s", num(x), num(s.at(s.sum)))
	}
	s.parted = x
	y := s.at(w.New)
	s.area += fmt.Sprintf("H%sV%s", num(x), num(y))
	if w.New < before && !s.st.falls {
		s.path += fmt.Sprintf("H%sM%s %s", num(x), num(x), num(y))
		fmt.Fprintf(&s.marks, `<path class="cliff" d="M%s %sV%s"/>`, num(x), num(s.at(before)), num(y))
	} else {
		s.path += fmt.Sprintf("H%sV%s", num(x), num(y))
	}
	if s.fell(w, before) {
		top := s.at(max(before, w.New))
		s.late = append(s.late, mark{x, top, w.Client, false})
		s.take(x-2, s.y-8, x+2, max(top, y))
	}
}

// labels write the values: first those of writes that did harm.
func (s *steps) labels() {
	for _, harm := range []bool{true, false} {
		before := s.st.Start
		for _, w := range s.st.Writes {
			if !w.OK {
				continue
			}
			if fell := s.fell(w, before); fell == harm {
				s.label(s.x(w.At), s.at(w.New), map[bool]string{true: "red b", false: "s"}[fell], strconv.FormatInt(w.New, 10))
			}
			before = w.New
		}
		if harm && s.ghost != "" && s.sum > s.value && !s.st.falls && !s.label(s.right, s.at(s.sum), "s halo", "acknowledged") {
			s.label(s.parted, s.at(s.sum), "s halo", "acknowledged")
		}
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
	x, y := c.left+8, c.y+16
	short, _, _ := strings.Cut(t.Text, ";")
	for _, text := range []string{t.Text, short} {
		if w := float64(len([]rune(text))) * 6.3; w <= (c.right-x)*0.9 {
			c.captions += fmt.Sprintf(`<text x="%s" y="%s" class="%s halo">%s</text>`, num(x), num(y), class, html.EscapeString(text))
			c.take(x, y-14, x+w*1.2, y+4)
			return
		}
	}
}

// strike draws late writes, from the belief of their client to the data, and where a fence turned one away.
func (c *canvas) strike() {
	for _, m := range c.late {
		if lane, ok := c.lane[m.client]; !m.refused && ok {
			c.line(m.x, lane+c.height.lane, m.x, m.y, "late")
		}
		if !m.refused {
			continue
		}
		fmt.Fprintf(c, `<path class="shield" d="M%s %sH%s"/><path class="bounce" d="M%s %sq6 -20 17 -9l-1 -6m1 6l-6 1"/>`, num(m.x-9),
			num(m.y-3), num(m.x+9), num(m.x), num(m.y-6))
	}
}

// climb adds the registers of the lock: as their log has it, or, where they keep none, as clients were told, in the order of
// answers. Then, of two writes of the incident that replaced the same value, the later one is wrong.
func (s *Stage) climb(rec *history.Record, sc Scene, told bool) {
	at, replaced := map[string]int{}, map[Write]bool{}
	for i := range rec.Events {
		e := &rec.Events[i]
		g, took := rec.ByID[e.Grant()], e.Type() == history.OK
		ours := e.Party() == history.PartyRegister && e.Lock() == s.Locks[0]
		if told {
			ours = took && g != nil && g.Lock == s.Locks[0]
		}
		if !ours || e.F() != history.FWrite || !e.New().Set || e.Time > s.To {
			continue
		}
		n, ok := at[e.Register()]
		if !ok {
			n = len(s.Stairs)
			at[e.Register()] = n
			s.Stairs = append(s.Stairs, Stair{
				Register: e.Register(), Start: rec.Run.Registers[e.Register()], Writes: []Write{}, falls: e.Register() == "stock", told: told,
			})
		}
		st := &s.Stairs[n]
		w := Write{At: e.Time, Client: e.Client(), Base: e.Base().Or(0), New: e.New().V, OK: took, Wrong: sc.Wrong[e.Index]}
		if w.Client == "" && g != nil {
			w.Client = g.Client
		}
		if mine := slices.Contains(sc.Grants, g); told && mine && e.Time >= s.From {
			base := Write{Client: e.Register(), Base: w.Base}
			w.Wrong, replaced[base] = replaced[base], true
		}
		switch {
		case e.Time >= s.From:
			st.Writes = append(st.Writes, w)
		case took:
			st.Start = w.New
		}
	}
	s.Stairs = slices.DeleteFunc(s.Stairs, func(st Stair) bool { return len(st.Writes) == 0 })
	slices.SortFunc(s.Stairs, func(a, b Stair) int { return cmp.Compare(b.Register, a.Register) }) // plain, then fenced
	s.Stairs = s.Stairs[:min(len(s.Stairs), 2)]
}
