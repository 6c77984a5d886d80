// Package chain decides whether sections, of which each read a register and wrote it, can have followed each other one by
// one: by a sweep where values never come back, and by Porcupine where they do.
package chain

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker/internal/lin"
	"github.com/lockstorm/lockstorm/history"
)

// Chain decides in one pass whether sections can have followed each other on a register. It
// is exact where a register never comes back to a value: where every section that writes
// leaves more than it read (a counter), or no two leave the same. Then each value is there
// once, what wrote over it is the one section that is known to have read it and written,
// and the order is given; all that is left is to compare it with the times.
//
// A section of unknown outcome is used where the chain would end without it.
type Chain struct {
	all      []Section
	start    int64
	distinct bool
	next     map[int64]int   // base -> the section that certainly wrote over it
	maybe    map[int64][]int // base -> those that may have
	reads    map[int64][]int // base -> those that only read it
	writer   map[int64]int   // value -> one that leaves it
	needed   map[int]bool    // unknown sections that must have taken effect, where values are distinct
	order    []int
	left     int // certain sections without a place
}

// Breach is what shows that sections cannot have followed each other: a few of them, and the
// value that the register held before the first. Sections between two of them may be
// drawn together to one.
type Breach struct {
	Start    int64
	Sections []Section
}

// Judge decides. Legal comes with the order, by place in sections; Illegal with the breach.
// Undecided: a value may come back, or a section sets one without reading.
func (c *Chain) Judge(start int64, sections []Section) (lin.Answer, []int, Breach) {
	if b, ok := c.index(start, sections); !ok {
		if len(b.Sections) > 0 {
			return lin.Illegal, nil, b
		}
		return lin.Undecided, nil, b
	}
	state, forked := c.walk()
	switch {
	case forked:
		return lin.Undecided, nil, Breach{}
	case c.left > 0:
		return lin.Illegal, nil, c.gap(state)
	}
	if b, late := c.late(); late {
		return lin.Illegal, nil, b
	}
	return lin.Legal, c.order, Breach{}
}

// index sorts the sections by what they read. Not ok: the chain cannot decide or, with a
// breach, two have certainly written over the same value.
func (c *Chain) index(start int64, sections []Section) (b Breach, ok bool) {
	c.clear(start, sections)
	growing := true
	c.distinct = true
	for i, s := range sections {
		if !s.Reads {
			return b, false
		}
		if s.Writes {
			_, again := c.writer[s.Value]
			c.distinct = c.distinct && !again && s.Value != start
			growing = growing && s.Value > s.Base
			c.writer[s.Value] = i
		}
	}
	if !growing && !c.distinct {
		return b, false
	}
	for i, s := range sections {
		switch o, taken := c.next[s.Base]; {
		case s.Writes && s.Unknown:
			c.maybe[s.Base] = append(c.maybe[s.Base], i)
		case s.Unknown:
		case !s.Writes:
			c.reads[s.Base] = append(c.reads[s.Base], i)
			c.left++
		case taken:
			return Breach{s.Base, []Section{sections[o], s}}, false
		default:
			c.next[s.Base] = i
			c.left++
		}
	}
	return b, true
}

func (c *Chain) clear(start int64, sections []Section) {
	c.all, c.start, c.left, c.order, c.needed = sections, start, 0, c.order[:0], nil
	if c.next == nil {
		c.next, c.writer, c.maybe, c.reads = map[int64]int{}, map[int64]int{}, map[int64][]int{}, map[int64][]int{}
	}
	clear(c.next)
	clear(c.writer)
	clear(c.maybe)
	clear(c.reads)
}

// walk follows the values from the first one on, as far as it must. Forked: there are several
// ways to go on.
func (c *Chain) walk() (state int64, forked bool) {
	for state = c.start; ; state = c.all[c.order[len(c.order)-1]].Value {
		c.readers(state)
		i, certain := c.next[state]
		switch {
		case certain:
			c.left--
		case c.left == 0 || len(c.maybe[state]) == 0:
			return state, false
		default:
			if i, forked = c.choose(c.maybe[state]); i < 0 {
				return state, forked
			}
		}
		c.order = append(c.order, i)
	}
}

func (c *Chain) readers(state int64) {
	readers := c.reads[state]
	slices.SortFunc(readers, func(a, b int) int { return cmp.Compare(c.all[a].Call, c.all[b].Call) })
	c.order = append(c.order, readers...)
	c.left -= len(readers)
	delete(c.reads, state)
}

// choose is which of some sections of unknown outcome took effect: the first where they all
// leave the same; else the one that is needed for what others have read. -1: none of them,
// or not known.
func (c *Chain) choose(of []int) (which int, forked bool) {
	if !slices.ContainsFunc(of, func(i int) bool { return c.all[i].Value != c.all[of[0]].Value }) {
		return slices.MinFunc(of, func(a, b int) int { return cmp.Compare(c.all[a].Call, c.all[b].Call) }), false
	}
	if !c.distinct {
		return -1, true
	}
	c.need()
	which = -1
	for _, i := range of {
		if c.needed[i] {
			if which >= 0 {
				return -1, true
			}
			which = i
		}
	}
	return which, false
}

// need finds the sections that must have taken effect for what others have read.
func (c *Chain) need() {
	if c.needed != nil {
		return
	}
	c.needed = map[int]bool{}
	for _, s := range c.all {
		if s.Unknown {
			continue
		}
		w, written := c.writer[s.Base]
		for written && !c.needed[w] {
			c.needed[w] = true
			w, written = c.writer[c.all[w].Base]
		}
	}
}

// gap explains why a section has no place: it has read what nobody left, or what somebody
// left who read the same value as another one that wrote over it.
func (c *Chain) gap(end int64) Breach {
	placed := map[int]bool{}
	over := map[int64]int{} // value -> what wrote over it
	for _, i := range c.order {
		if placed[i] = true; c.all[i].Writes {
			over[c.all[i].Base] = i
		}
	}
	var s Section
	for i := range c.all {
		if s = c.all[i]; !s.Unknown && !placed[i] {
			break
		}
	}
	w, written := c.writer[s.Base]
	for range c.all {
		if !written {
			break
		}
		from := c.all[w]
		if taken, fork := over[from.Base]; fork {
			return Breach{from.Base, joined([]Section{c.all[taken], from}, s)}
		}
		w, written = c.writer[from.Base]
	}
	return Breach{end, []Section{s}}
}

// late looks for a section that was over before another one began that stands before it.
func (c *Chain) late() (Breach, bool) {
	latest := -1
	for _, i := range c.order {
		s := c.all[i]
		if latest >= 0 && s.Ret < c.all[latest].Call {
			first := c.all[latest]
			return Breach{first.Base, joined([]Section{first}, s)}, true
		}
		if latest < 0 || s.Call > c.all[latest].Call {
			latest = i
		}
	}
	return Breach{}, false
}

// joined appends a section that comes later, and all between it and the last one as one
// section that may have been at any time.
func joined(before []Section, s Section) []Section {
	last := before[len(before)-1]
	if left := last.leaves(last.Base); left != s.Base {
		before = append(before, Section{
			Base: left, Value: s.Base, Reads: true, Writes: true, Call: -history.Forever,
			Ret: history.Forever,
		})
	}
	return append(before, s)
}
