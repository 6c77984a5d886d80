package models

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/internal/operations"
)

func all() []Model {
	return []Model{mutex(), owned(), reentrant(), fenced(), semaphore(3), register("0")}
}

// What an object that works has done is in order, also where nobody knows what became of some of it.
func TestModelsOfWorkingObjects(t *testing.T) {
	for _, m := range all() {
		for seed := range uint64(100) {
			s := newSimulation(m, seed, 5, 0.05)
			s.run(200)
			for i, c := range s.out.Calls {
				c.Anyone = seed%2 == 1 && (c.Unknown() || i%10 == 0)
			}
			r := judged(t, m, s.out)
			if r.Verdict != Pass {
				t.Errorf("%s, seed %d: %s at %v, before it %v", m.Name, seed, r.Verdict, r.At, r.Before)
			}
		}
	}
}

// What the object does not allow is found wherever nothing else can have happened: alone, after all others have ended.
func TestModelsOfBrokenObjects(t *testing.T) {
	for _, m := range all() {
		for seed := range uint64(50) {
			long := seed%10 == 9
			s := newSimulation(m, seed, 5, 0)
			s.run(map[bool]int{false: 8, true: 100}[long])
			bad := s.broken()
			r := judged(t, m, s.out)
			if r.Verdict != Failed || r.At != bad || len(r.Proof) == 0 || (!long && !r.Minimal) {
				t.Errorf("%s, seed %d: %s at %v, before it %v, %d operations prove it", m.Name, seed, r.Verdict, r.At, r.Before, len(r.Proof))
				continue
			}
			// The proof is one by the twin too, which takes long where much is unknown.
			if !long && twin(m, s.out, r.Proof) {
				t.Errorf("%s, seed %d: Porcupine finds an order where only these are known:\n%sof\n%s", m.Name, seed, listed(r.Proof),
					listed(s.out.Calls))
			}
		}
	}
}

// broken adds, when all is over, what is not possible.
func (s *simulation) broken() *operations.Call {
	add := func(p, f string, in, out any) *operations.Call {
		c := &operations.Call{
			F: f, Process: p, Owner: p, In: in, Out: out, From: s.place, To: s.place + 1,
			Invoke: s.event(s.place + 1), Return: s.event(s.place + 2),
		}
		s.place += 2
		s.out.Calls = append(s.out.Calls, c)
		return c
	}
	switch {
	case s.m.Name == "register:initial=0":
		add("x", "write", int64(1), nil)
		return add("y", "read", nil, int64(2))
	case s.m.Name == "mutex" && s.s.n == 0:
		return add("x", "release", nil, nil)
	case s.m.Name == "mutex":
		return add("x", "acquire", nil, nil)
	default:
		return add("nobody", "release", nil, nil) // who holds nothing
	}
}

func judged(t *testing.T, m Model, h *operations.History) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // on a busy host an order is looked for as long
	defer cancel()
	r, err := Judge(ctx, m, h)
	if err != nil {
		t.Fatal(err)
	}
	return r[0]
}

// On small histories, working and broken, the verdict is that of Porcupine.
func TestModelsAgreeWithPorcupine(t *testing.T) {
	for _, m := range all() {
		counts := map[Verdict]int{}
		for seed := range uint64(2000) {
			s := newSimulation(m, seed, 4, 0.2)
			s.run(10)
			s.disturb()
			r := judged(t, m, s.out)
			counts[r.Verdict]++
			if want := twin(m, s.out, nil); want != (r.Verdict == Pass) {
				t.Fatalf("%s, seed %d: %s, but Porcupine says %v\n%s", m.Name, seed, r.Verdict, want, listed(s.out.Calls))
			}
			if r.Verdict == Failed && twin(m, s.out, r.Proof) {
				t.Fatalf("%s, seed %d: Porcupine finds an order where only these are known:\n%sof\n%s", m.Name, seed, listed(r.Proof),
					listed(s.out.Calls))
			}
		}
		if counts[Pass] < 200 || counts[Failed] < 100 {
			t.Errorf("%s: %v", m.Name, counts)
		}
	}
}

// disturb changes a history, perhaps so that it has no order any more.
func (s *simulation) disturb() {
	if len(s.out.Calls) < 3 {
		return
	}
	rnd := rand.New(rand.NewPCG(uint64(len(s.out.Calls)), s.rnd.Uint64()))
	for range rnd.IntN(3) {
		c := s.out.Calls[rnd.IntN(len(s.out.Calls))]
		switch rnd.IntN(5) {
		case 0:
			if other := map[string]string{"acquire": "release", "release": "acquire"}[c.F]; other != "" {
				c.F = other
			}
			if s.m.Name == "fenced-mutex" && !c.Unknown() {
				c.Out = int64(rnd.IntN(8))
			}
		case 1:
			if c.F == "read" || s.m.Name == "fenced-mutex" {
				c.Out = int64(rnd.IntN(4) + 1)
			}
		case 2:
			c.Owner = s.out.Calls[rnd.IntN(len(s.out.Calls))].Owner
		case 3:
			c.To = operations.Open
		case 4:
			c.Anyone = true
		}
	}
}

func listed(calls []*operations.Call) (text string) {
	for _, c := range calls {
		text += fmt.Sprintf("%s (unknown: %v) %s %v -> %v [%d %d]\n", c.Owner, c.Anyone, c.F, c.In, c.Out, c.From, c.To)
	}
	return text
}

// twin asks Porcupine; with known, only of these it is known that they took effect. An operation of anyone is tried as one of
// each client, and of one more.
func twin(m Model, h *operations.History, known []*operations.Call) bool {
	t := newTable(m.initial)
	ops, err := m.compile(t, h.Calls)
	if err != nil {
		panic(err)
	}
	keep := map[*operations.Call]bool{}
	for _, c := range known {
		keep[c] = true
	}
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(s, in, _ any) (out []any) {
			o := in.(op) //nolint:forcetypeassert // written below
			if o.call.Unknown() || (known != nil && !keep[o.call]) {
				out = append(out, s)
			}
			as := o.class()
			for owner := range int32(len(t.owners)) {
				if o.owner == anyone {
					as.owner = owner
				} else if owner != o.owner {
					continue
				}
				if next, ok := m.step(s.(state), as); ok && (owner != nobody || o.owner == nobody) { //nolint:forcetypeassert // as above
					out = append(out, next)
				}
			}
			return out
		},
		Equal: func(a, b any) bool { return a == b },
	}
	var list []porcupine.Operation
	for i, o := range ops {
		end := int64(o.call.To)
		if o.call.Unknown() {
			end = 1 << 40
		}
		list = append(list, porcupine.Operation{ClientId: i, Input: o, Call: int64(o.call.From), Return: end})
	}
	return porcupine.CheckOperations(model.ToModel(), list)
}

// Ten thousand operations, one in twenty of unknown outcome.
func BenchmarkJudge(b *testing.B) {
	for _, m := range all() {
		b.Run(m.Name, func(b *testing.B) {
			s := newSimulation(m, 1, 10, 0.05)
			for len(s.out.Calls) < 10000 {
				s.run(1000)
			}
			for b.Loop() {
				ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
				r, err := Judge(ctx, m, s.out)
				cancel()
				b.ReportMetric(float64(r[0].Operations), "operations")
				if err != nil || r[0].Verdict != Pass {
					b.Fatal(r, err)
				}
			}
		})
	}
}
