package checker

import (
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// The count of overtakes is that of all pairs.
func TestOvertakesAgainstBruteForce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1)) // a seed
	for range 300 {
		in := Input{Record: &history.Record{ByLock: map[string][]*history.Grant{}}}
		for range rnd.IntN(40) {
			asked := rnd.Int64N(20) * fairMargin / 2
			ok := asked + rnd.Int64N(10*fairMargin)
			c := &history.Call{Invoke: &history.Event{Time: asked, F: history.FAcquire}, Return: &history.Event{Time: ok, Type: history.OK}}
			in.ByLock["L"] = append(in.ByLock["L"], &history.Grant{Lock: "L", Client: "c", Acquire: c})
		}
		queue := in.waiters("L")
		for i, got := range overtakes(queue) {
			want := int64(0)
			for _, h := range queue {
				// Of two that were answered at once, the order of the queue counts.
				if h.Acquire.Start() > queue[i].Acquire.Start()+fairMargin && h.From() < queue[i].From() {
					want++
				}
			}
			if got != want {
				t.Fatalf("grant %d was overtaken %d times, by all pairs %d", i, got, want)
			}
		}
	}
}
