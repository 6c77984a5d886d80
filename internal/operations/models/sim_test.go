package models

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/operations"
)

// simulation is an object that works, and processes that use it at once.
type simulation struct {
	m         Model
	rnd       *rand.Rand
	t         *table
	s         state
	unknown   float64
	processes []string
	names     int
	open      map[string]*pending
	out       *operations.History
	place     int
}

type pending struct {
	call   *operations.Call
	op     op
	done   bool
	denied bool
}

func newSimulation(m Model, seed uint64, processes int, unknown float64) *simulation {
	s := &simulation{
		m: m, rnd: rand.New(rand.NewPCG(seed, 1)), t: newTable(m.initial), unknown: unknown,
		open: map[string]*pending{}, out: &operations.History{Keys: []string{""}},
	}
	for range processes {
		s.processes = append(s.processes, s.name())
	}
	return s
}

func (s *simulation) name() string {
	s.names++
	return fmt.Sprint("p", s.names)
}

func (s *simulation) event(line int) *operations.Item { return &operations.Item{Line: line} }

// invoke begins an operation of a process.
func (s *simulation) invoke(p string) {
	c := &operations.Call{Process: p, Owner: p, From: s.place, To: operations.Open, Invoke: s.event(s.place + 1)}
	s.place++
	k := acquire
	switch {
	case strings.HasPrefix(s.m.Name, "register"):
		k = []kind{read, write, swap}[s.rnd.IntN(3)]
	case s.holds(p) && s.rnd.IntN(5) > 0, s.rnd.IntN(10) == 0:
		k = release
	}
	switch k {
	case acquire:
		c.F = "acquire"
	case release:
		c.F = "release"
	case read:
		c.F = "read"
	case write:
		c.F, c.In = "write", int64(s.rnd.IntN(4))
	case swap:
		c.F, c.In = "cas", []any{int64(s.rnd.IntN(4)), int64(s.rnd.IntN(4))}
	}
	s.open[p] = &pending{call: c, op: op{kind: k, owner: s.t.as(p), call: c}}
}

// holds reports whether a process may release something.
func (s *simulation) holds(p string) bool {
	owner := s.t.as(p)
	return s.s.owner == owner || slices.Contains(holders(s.s), owner) || (s.m.Name == "mutex" && s.s.n == 1)
}

// act lets an operation that is under way take effect, where the object allows it.
func (s *simulation) act(p *pending) {
	o := &p.op
	switch {
	case o.kind == read:
		o.a = s.s.n
		p.call.Out = s.t.values[s.s.n]
	case s.m.Name == "fenced-mutex" && o.kind == acquire:
		o.a = s.s.n + 1 + s.rnd.Int64N(3)
		p.call.Out = o.a - 1
	default:
		if _, err := s.m.make(s.t, o); err != nil {
			panic(err)
		}
	}
	next, ok := s.m.step(s.s, o.class())
	if !ok {
		p.denied = true
		return
	}
	s.s, p.done = next, true
}

// finish ends an operation: with its outcome, or nobody knows.
func (s *simulation) finish(i int) {
	p := s.processes[i]
	o := s.open[p]
	delete(s.open, p)
	if s.rnd.Float64() < s.unknown {
		if !o.done {
			o.call.Out = nil
		}
		s.out.Calls = append(s.out.Calls, o.call)
		if o.op.kind == acquire {
			o.call.Out = nil // nobody saw it
			s.giveBack(p)
		}
		s.processes[i] = s.name()
		return
	}
	place := s.place
	s.place++
	if !o.done { // it failed
		return
	}
	o.call.To, o.call.Return = place, s.event(place+1)
	s.out.Calls = append(s.out.Calls, o.call)
}

// giveBack lets a process that does not know what it holds release all of it, which nobody hears of either.
func (s *simulation) giveBack(p string) {
	for {
		c := &operations.Call{F: "release", Process: p, Owner: p, From: s.place, To: operations.Open, Invoke: s.event(s.place + 1)}
		o := op{kind: release, owner: s.t.as(p), call: c}
		if s.m.Name == "mutex" {
			o.owner = 0
		}
		next, ok := s.m.step(s.s, o.class())
		if !ok {
			return
		}
		s.s, s.place = next, s.place+1
		s.out.Calls = append(s.out.Calls, c)
		if s.m.Name == "mutex" {
			return
		}
	}
}

// run makes a history of so many operations.
func (s *simulation) run(count int) {
	for count > 0 || len(s.open) > 0 {
		i := s.rnd.IntN(len(s.processes))
		p := s.open[s.processes[i]]
		switch {
		case p == nil && count > 0:
			count--
			s.invoke(s.processes[i])
		case p != nil && !p.done && !p.denied:
			s.act(p)
		case p != nil:
			s.finish(i)
		}
	}
	slices.SortFunc(s.out.Calls, func(a, b *operations.Call) int { return a.From - b.From })
}
