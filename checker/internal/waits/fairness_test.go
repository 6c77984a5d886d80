package waits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// The count of overtakes is that of all pairs.
func TestOvertakesAgainstBruteForce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1)) // a seed
	for range 300 {
		in := of(facts.Of(&history.Record{ByLock: map[string][]*history.Grant{}}))
		for range rnd.IntN(40) {
			asked := rnd.Int64N(40) * fairMargin / 2
			ok := asked + rnd.Int64N(20*fairMargin)
			c := &history.Call{
				Invoke: history.Line{Time: asked, F: history.FAcquire}.Event(),
				Return: history.Line{Time: ok, Type: history.OK}.Event(),
			}
			in.ByLock["L"] = append(in.ByLock["L"], &history.Grant{Lock: "L", Client: fmt.Sprint("c", rnd.IntN(5)), Acquire: c})
		}
		for range rnd.IntN(3) {
			from := rnd.Int64N(20) * fairMargin
			in.Unplanned = append(in.Unplanned, facts.Stall{
				Party:    "c1",
				Interval: history.Interval{From: from, To: from + rnd.Int64N(fairMargin)},
			})
		}
		slices.SortFunc(in.Unplanned, func(a, b facts.Stall) int { return facts.ByFrom(a.Interval, b.Interval) })
		queue := in.waiters("L")
		in.slowness().place(queue)
		for i, got := range overtakes(queue) {
			want := int64(0)
			for _, h := range queue {
				// Of two that were answered at once, the order of the queue counts.
				if h.Acquire.Start() > queue[i].place && h.From() < queue[i].From() {
					want++
				}
			}
			if got != want {
				t.Fatalf("grant %d was overtaken %d times, by all pairs %d", i, got, want)
			}
		}
	}
}
