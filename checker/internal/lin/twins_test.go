package lin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// random makes the operations of a few grants on a small grid of time, so that intervals
// touch often: some of any kind, also such as no client would do.
func random(d *rand.Rand, counted bool) (grants []*history.Grant, ops []Op) {
	within := func(lo, n int) int64 { return int64(lo + d.IntN(n)) }
	for n := range 2 + d.IntN(4) {
		g := &history.Grant{ID: fmt.Sprint("g", n), Client: fmt.Sprint("c", d.IntN(3)), Owner: fmt.Sprint("o", d.IntN(2)*d.IntN(2))}
		if d.IntN(2) == 0 {
			g.Mode = history.ModeShared
		}
		grants = append(grants, g)
		at, level := within(0, 10), 0
		add := func(kind Kind) {
			op := Op{Kind: kind, Grant: n, ID: g.ID, Call: at}
			op.Ret = op.Call + within(0, 8)
			if op.Loose = d.IntN(8) == 0; kind == May {
				op.Ret = history.Forever
			}
			ops = append(ops, op)
			at += within(-1, 6)
		}
		if d.IntN(20) > 0 {
			add(Acquire)
		}
		for range d.IntN(4) {
			kind := []Kind{Renew, Renew, NotHeld, NotHeld, May, May, Release}[d.IntN(7)]
			add(kind)
			op := &ops[len(ops)-1]
			switch kind {
			case Renew:
				level++
				op.Level = level
			case May:
				if op.Level = math.MaxInt; counted {
					op.Level = level - d.IntN(2)*d.IntN(2)
				}
			}
		}
		if d.IntN(2) == 0 {
			add(Release)
		}
	}
	for i := range ops {
		ops[i].Loose = counted && ops[i].Loose && (ops[i].Kind == Release || ops[i].Kind == Renew)
	}
	return grants, ops
}

// of are the operations of some grants.
func of(ops []Op, some []int) (out []Op) {
	for _, op := range ops {
		for _, n := range some {
			if op.Grant == n {
				out = append(out, op)
			}
		}
	}
	return out
}

// twins asks the sweep and Porcupine, and has every order replayed and every culprit
// confirmed. It says in what they differ.
func twins(m history.Model, grants []*history.Grant, ops []Op) (swept, searched Answer, differ string) {
	var s Sweep
	s.Reset(m, grants)
	numbers := make([]int, len(grants))
	for n := range grants {
		numbers[n] = n
		s.Grant(n, of(ops, []int{n}))
	}
	engine := For(m, grants)
	swept, culprits := s.Judge(numbers)
	searched = engine.Judge(ops, time.Minute)
	switch {
	case swept == Legal:
		if err := Replay(m, grants, ops, s.Order(ops)); err != nil {
			differ = err.Error()
		}
		if searched != Legal {
			differ += "; Porcupine finds no order"
		}
	case s.Exact() && searched != Illegal:
		differ = "Porcupine finds an order"
	case s.Exact() && engine.Judge(of(ops, culprits), time.Minute) != Illegal:
		differ = fmt.Sprintf("the culprits %v are legal", culprits)
	}
	return swept, searched, differ
}

// The sweep says what Porcupine says, on every small history of every model; of a counted lock
// it may leave a legal one undecided.
func TestSweepAgainstPorcupine(t *testing.T) {
	for _, kind := range []string{history.ModelExclusive, history.ModelReadWrite, history.ModelReentrant} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			legal, missed, all := 0, 0, int(checkertest.Histories(t, 1_500))
			for seed := range uint64(all) {
				grants, ops := random(rand.New(rand.NewPCG(seed, 11)), kind == history.ModelReentrant)
				swept, searched, differ := twins(history.Model{Kind: kind}, grants, ops)
				if differ != "" {
					t.Fatalf("seed %d: sweep %v, Porcupine %v: %s\n%+v", seed, swept, searched, differ, ops)
				}
				if searched == Legal {
					legal++
				}
				if searched == Legal && swept != Legal {
					missed++
				}
			}
			t.Logf("%d histories: %d legal, %d of them left to Porcupine", all, legal, missed)
			if few := all / 20; legal < few || all-legal < few {
				t.Errorf("%d of %d histories are legal: too few on one side to be a test", legal, all)
			}
		})
	}
}
