package models

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
)

// The widths of the search: how many ways to order what happened so far are kept. The first that finds an order has found
// one; the last one gives up, and says so, where it had to leave ways out.
var widths = []int{16, 512, 16384}

// way is one way to order what happened so far: what it left the object in, which operations that are still under way have
// taken effect already, and how many of unknown outcome, by class.
type way struct {
	s    state
	done string // slots of operations under way, a byte pair each, sorted
	used string // see uses
}

// search looks for an order of the operations of one object, event by event. All ways are followed at once. An operation
// takes effect when it must: when one ends, it, with what has to come before it. One of unknown outcome takes effect only
// where another one is not possible without: doing it later is as good, and never doing it is better.
type search struct {
	m      Model
	ops    []op
	events []event
	width  int

	owners []int32 // whom an operation of anyone can be of
	known  []class // of unknown outcome, begun so far
	place  map[class]int
	begun  []int // by class: how many
	slots  []int // operations under way: index in ops, or -1
	ways   []way
	cut    bool // some were left out
	failed int  // the event at which no way was left
}

// event is the beginning or the end of an operation.
type event struct {
	at  int
	op  int
	end bool
}

func newSearch(m Model, ops []op, width int) *search {
	s := &search{m: m, ops: ops, width: width, place: map[class]int{}, failed: -1, ways: []way{{}}}
	for i := range ops {
		s.events = append(s.events, event{at: ops[i].call.From, op: i})
		if !ops[i].call.Unknown() {
			s.events = append(s.events, event{at: ops[i].call.To, op: i, end: true})
		}
	}
	slices.SortFunc(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return s
}

// as are the ways to read an operation: one of anyone is of one client.
func (s *search) as(c class) (out []class) {
	if c.owner != anyone {
		return []class{c}
	}
	if s.owners == nil {
		seen := map[int32]bool{}
		for i := range s.ops {
			seen[s.ops[i].owner] = true
		}
		s.owners = slices.Sorted(maps.Keys(seen))
	}
	for _, owner := range s.owners {
		c.owner = owner
		out = append(out, c)
	}
	return out
}

// run reports whether there is an order. Where there is none, failed is the event up to which there was one.
func (s *search) run(ctx context.Context) (bool, error) {
	for i, e := range s.events {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		o := &s.ops[e.op]
		switch {
		case e.end:
			before := s.ways
			if s.ways = s.follow(ctx, e.op); len(s.ways) == 0 {
				s.failed, s.ways = i, before
				return false, ctx.Err()
			}
		case o.call.Unknown():
			s.begin(o.class())
		default:
			s.enter(e.op)
		}
	}
	return true, nil
}

func (s *search) begin(c class) {
	i, ok := s.place[c]
	if !ok {
		i = len(s.known)
		s.place[c], s.known, s.begun = i, append(s.known, c), append(s.begun, 0)
	}
	s.begun[i]++
}

func (s *search) enter(op int) {
	slot := slices.Index(s.slots, -1)
	if slot < 0 {
		slot, s.slots = len(s.slots), append(s.slots, -1)
	}
	s.slots[slot] = op
}

// follow are the ways in which an operation has taken effect that now ends. The narrowest search lets operations of
// unknown outcome take effect only where there is no way without.
func (s *search) follow(ctx context.Context, op int) []way {
	slot := slices.Index(s.slots, op)
	eager := s.width > widths[0]
	out := s.ends(ctx, slot, eager)
	if !eager && len(s.known) > 0 {
		s.cut = true
		if len(out) == 0 {
			out = s.ends(ctx, slot, true)
		}
	}
	s.slots[slot] = -1
	if len(out) > s.width {
		slices.SortStableFunc(out, func(a, b way) int {
			return cmp.Or(cmp.Compare(total(a.used), total(b.used)), cmp.Compare(len(b.done), len(a.done)))
		})
		out, s.cut = out[:s.width], true
	}
	return out
}

func (s *search) ends(ctx context.Context, slot int, help bool) []way {
	f := &following{search: s, ctx: ctx, slot: slot, help: help, seen: map[seenKey][]cost{}}
	if s.ops[s.slots[slot]].maybe {
		for _, w := range s.ways {
			if !has(w.done, slot) && f.worth(w, true) {
				f.out = append(f.out, w)
			}
		}
	}
	for _, w := range s.ways {
		if f.from(w); f.over {
			break
		}
	}
	return f.out
}

// following is the end of one operation.
type following struct {
	*search
	ctx  context.Context //nolint:containedctx // of one call
	slot int
	help bool
	seen map[seenKey][]cost // of each way to it
	out  []way
	work int
	over bool // no more is looked at
}

type seenKey struct {
	s    state
	done string
	over bool
}

// cost is what a way used, and n of its state, where more of it allows less.
type cost struct {
	used string
	n    uint64
}

// worth reports whether a way is new: none that led to the same cost no more than it.
func (f *following) worth(w way, over bool) bool {
	k, c := seenKey{w.s, w.done, over}, cost{used: w.used}
	if f.m.rises {
		k.s.n, c.n = 0, uint64(w.s.n)
	}
	for _, u := range f.seen[k] {
		if u.n <= c.n && within(u.used, c.used) {
			return false
		}
	}
	f.seen[k] = append(f.seen[k], c)
	return true
}

// from follows one way until the operation has taken effect.
func (f *following) from(w way) {
	w = f.settle(w)
	if has(w.done, f.slot) {
		w.done = without(w.done, f.slot)
		if f.worth(w, true) {
			f.out = append(f.out, w)
		}
		return
	}
	if f.tired() || !f.worth(w, false) {
		return
	}
	for slot, op := range f.slots {
		if op >= 0 && !has(w.done, slot) {
			for _, goal := range f.as(f.ops[op].class()) {
				for _, next := range f.steps(w, goal) {
					next.done = with(next.done, slot)
					f.from(next)
				}
			}
		}
	}
}

// settle lets operations that never change anything take effect as soon as they can: no later one is hindered.
func (f *following) settle(w way) way {
	for slot, op := range f.slots {
		if op < 0 || has(w.done, slot) {
			continue
		}
		c := f.ops[op].class()
		if c.kind != read && (c.kind != swap || c.a != c.b) {
			continue
		}
		if _, ok := f.m.step(w.s, c); ok {
			w.done = with(w.done, slot)
		}
	}
	return w
}

// tired reports whether so many ways were followed within one event that the rest is left out.
func (f *following) tired() bool {
	const perWay, look = 64, 64
	f.work++
	if f.work > perWay*f.width || f.over || (f.work%look == 0 && f.ctx.Err() != nil) {
		f.over = true
		f.cut = true
		return true
	}
	return false
}

// chain is a way to a state by operations of unknown outcome, and the states that it went through.
type chain struct {
	way
	path []state
}

// steps are the ways in which an operation takes effect: at once, or else after others of unknown outcome. The narrowest
// search takes the shortest of these.
func (f *following) steps(w way, goal class) (out []way) {
	if next, ok := f.m.step(w.s, goal); ok {
		w.s = next
		return []way{w}
	}
	if !f.help {
		return nil
	}
	for level := []chain{{w, []state{w.s}}}; len(level) > 0; {
		var further []chain
		for _, c := range level {
			for _, h := range f.helpers(c, goal) {
				i := h.place
				next, ok := f.m.step(c.s, h.class)
				if !ok || slices.Contains(c.path, next) {
					continue
				}
				if f.tired() {
					return out
				}
				n := way{next, c.done, use(c.used, i)}
				if end, ok := f.m.step(next, goal); ok {
					out = append(out, way{end, n.done, n.used})
				} else {
					further = append(further, chain{n, append(slices.Clone(c.path), next)})
				}
			}
		}
		if len(out) > 0 && f.width == widths[0] {
			return out
		}
		level = further
	}
	return out
}

// helper is an operation of unknown outcome as it is read, and its place.
type helper struct {
	class
	place int
}

// helpers are what may lead to a goal and is left: operations of the client that is needed, and of anyone.
func (f *following) helpers(c chain, goal class) (out []helper) {
	add := func(as, of class) {
		if i, ok := f.place[of]; ok && usesOf(c.used, i) < f.begun[i] {
			out = append(out, helper{as, i})
		}
	}
	for _, h := range f.m.help(c.s, goal, f.known) {
		add(h, h)
		if of := h; h.owner > anyone {
			of.owner = anyone
			add(h, of)
		}
	}
	return out
}

// Slots are two bytes each, sorted.
func has(set string, slot int) bool {
	for i := 0; i < len(set); i += 2 {
		if at(set, i) == slot {
			return true
		}
	}
	return false
}

func at(set string, i int) int { return int(set[i])<<8 | int(set[i+1]) }

func with(set string, slot int) string {
	i := 0
	for i < len(set) && at(set, i) < slot {
		i += 2
	}
	return set[:i] + string([]byte{byte(slot >> 8), byte(slot)}) + set[i:]
}

func without(set string, slot int) string {
	for i := 0; i < len(set); i += 2 {
		if at(set, i) == slot {
			return set[:i] + set[i+2:]
		}
	}
	return set
}

// Uses are pairs of a class and a count, four bytes each, sorted by class.
func usesOf(used string, c int) int {
	for b := []byte(used); len(b) > 0; b = b[8:] {
		if int(binary.BigEndian.Uint32(b)) == c {
			return int(binary.BigEndian.Uint32(b[4:]))
		}
	}
	return 0
}

func use(used string, c int) string {
	b := []byte(used)
	i := 0
	for i < len(b) && int(binary.BigEndian.Uint32(b[i:])) < c {
		i += 8
	}
	if i == len(b) || int(binary.BigEndian.Uint32(b[i:])) != c {
		b = slices.Insert(b, i, binary.BigEndian.AppendUint32(nil, uint32(c))...)
		b = slices.Insert(b, i+4, 0, 0, 0, 0)
	}
	binary.BigEndian.PutUint32(b[i+4:], binary.BigEndian.Uint32(b[i+4:])+1)
	return string(b)
}

// total is how many operations of unknown outcome were used.
func total(used string) (n int) {
	for b := []byte(used); len(b) > 0; b = b[8:] {
		n += int(binary.BigEndian.Uint32(b[4:]))
	}
	return n
}

// within reports whether nothing was used more often in a than in b.
func within(a, b string) bool {
	x, y := []byte(a), []byte(b)
	for len(x) > 0 {
		for len(y) > 0 && binary.BigEndian.Uint32(y) < binary.BigEndian.Uint32(x) {
			y = y[8:]
		}
		if len(y) == 0 || binary.BigEndian.Uint32(y) != binary.BigEndian.Uint32(x) ||
			binary.BigEndian.Uint32(y[4:]) < binary.BigEndian.Uint32(x[4:]) {
			return false
		}
		x = x[8:]
	}
	return true
}
