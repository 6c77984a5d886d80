package data

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// randomCall is one that begins within a hundred ticks and has any outcome.
func randomCall(d *rand.Rand, index int64, e history.Line) *history.Call {
	begin := 1 + d.Int64N(100)
	invoke := e
	invoke.Index, invoke.Time, invoke.Type, invoke.Client, invoke.Grant = 2*index, begin, history.Invoke, fmt.Sprintf("c%d", index),
		fmt.Sprintf("c%d-1", index)
	c := &history.Call{Invoke: invoke.Event()}
	outcome := []history.Type{history.OK, history.OK, history.OK, history.Fail, history.Info}[d.IntN(5)]
	if outcome == history.Info && d.IntN(2) == 0 {
		return c // nobody ever answered
	}
	back := invoke
	back.Index, back.Time, back.Type = invoke.Index+1, begin+d.Int64N(20), outcome
	c.Return = back.Event()
	return c
}

// worlds calls f for every way in which the calls of unknown outcome may have gone.
func worlds(calls []*history.Call, f func(done func(i int) bool)) {
	for mask := range 1 << len(calls) {
		possible := true
		for i, c := range calls {
			did := mask&(1<<i) != 0
			possible = possible && (c.Outcome() == history.Info || did == (c.Outcome() == history.OK))
		}
		if possible {
			f(func(i int) bool { return mask&(1<<i) != 0 })
		}
	}
}

// A job was done twice if it was in every world that there may be.
func TestOnceAgainstBruteForce(t *testing.T) {
	twice, open := 0, 0
	histories := int(checkertest.Histories(t, 5_000))
	for seed := range uint64(histories) {
		d := rand.New(rand.NewPCG(seed, 5))
		in := of(facts.Of(&history.Record{}))
		var periods []int64
		for i := range 1 + d.Int64N(5) {
			periods = append(periods, d.Int64N(3))
			in.Calls = append(in.Calls, randomCall(d, i,
				history.Line{F: history.FWork, Value: history.ValueOf(jobDone{Period: &periods[i]})}))
		}
		always, ever := true, false
		worlds(in.Calls, func(done func(int) bool) {
			count, worst := map[int64]int{}, 0
			for i, p := range periods {
				if done(i) {
					count[p]++
					worst = max(worst, count[p])
				}
			}
			always, ever = always && worst > 1, ever || worst > 1
		})
		r := once(in)
		if got := len(r.Findings) > 0; got != always {
			t.Fatalf("seed %d: it says %v, and there is a world in which it is %v", seed, r.Findings, !got)
		}
		if always {
			twice++
		} else if ever {
			open++
		}
	}
	if n := histories; twice < n/10 || open < n/10 {
		t.Errorf("%d of the histories have a job that was done twice, %d one that may have been", twice, open)
	}
}

// What a look at the stock sees is wrong if no order of the changes explains it. Where all outcomes are
// known and no change is under way while somebody looks, every wrong look is found.
func TestStockAgainstBruteForce(t *testing.T) {
	found, sharp := 0, 0
	histories := int(checkertest.Histories(t, 5_000))
	for seed := range uint64(histories) {
		d := rand.New(rand.NewPCG(seed, 6))
		first := d.Int64N(3)
		var writes, all []*history.Call
		for i := range d.Int64N(5) {
			base := d.Int64N(3)
			w := randomCall(d, i, history.Line{F: history.FWrite, Register: regStock, Value: history.Value{
				Base: history.Some(base),
				New:  history.Some(base + 1 - 2*d.Int64N(2)),
			}})
			writes, all = append(writes, w), append(all, w)
		}
		seen := history.Some(first - 2 + d.Int64N(5))
		begin := 1 + d.Int64N(130)
		look := &history.Call{
			Invoke: history.Line{
				Index: 100, Time: begin, Type: history.Invoke, F: history.FRead, Register: regStock, Client: "c9",
			}.Event(),
			Return: history.Line{
				Index: 101, Time: begin + d.Int64N(5), Type: history.OK, F: history.FRead, Register: regStock,
				Client: "c9", Value: history.Value{Base: seen},
			}.Event(),
		}
		g := &history.Grant{ID: "g", Lock: "L", Uses: append(all, look)}
		in := of(facts.Of(&history.Record{
			Run: history.Run{Registers: map[string]int64{regStock: first}}, Locks: []string{"L"},
			ByLock: map[string][]*history.Grant{"L": {g}},
		}))
		possible, clear := map[int64]bool{}, true
		worlds(writes, func(done func(int) bool) {
			sums := map[int64]bool{first: true}
			for i, w := range writes {
				before, after := w.Return != nil && w.Return.Time < look.Start(), w.Start() > look.End()
				if w.Outcome() == history.Info {
					before = false // whenever it was applied
				}
				if !done(i) || after {
					continue
				}
				delta, next := w.Invoke.New().V-w.Invoke.Base().V, map[int64]bool{}
				for s := range sums {
					if next[s+delta] = true; !before {
						next[s] = true
					}
				}
				sums = next
			}
			for s := range sums {
				possible[s] = true
			}
		})
		for _, w := range writes {
			switch {
			case w.Outcome() == history.Fail:
			case w.Outcome() == history.Info, w.Start() <= look.End() && w.End() >= look.Start():
				clear = false
			}
		}
		off := len(in.stockIsOff("L")) > 0
		if off && possible[seen.V] {
			t.Fatalf("seed %d: a look at %d is called wrong, and it may be right", seed, seen.V)
		}
		if clear && off == possible[seen.V] {
			t.Fatalf("seed %d: a look at %d: off is %v", seed, seen.V, off)
		}
		if off {
			found++
		}
		if clear {
			sharp++
		}
	}
	if n := histories; found < n/10 || sharp < n/10 {
		t.Errorf("%d looks were wrong, %d histories clear", found, sharp)
	}
}
