package facts

import (
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// What a value may be built upon is what one finds by trying every way: a write after another that left the value that
// it replaces.
func TestWaysAgainstBruteForce(t *testing.T) {
	open := 0
	for seed := range uint64(5_000) {
		d := rand.New(rand.NewPCG(seed, 7))
		first := d.Int64N(3)
		var writes []*history.Call
		written := map[int64]bool{}
		for range d.IntN(8) {
			base := d.Int64N(5)
			to := base + 1 + d.Int64N(2)
			value := history.Value{Base: history.Some(base), New: history.Some(to)}
			c := &history.Call{Invoke: history.Line{F: history.FWrite, Value: value}.Event()}
			if d.IntN(3) > 0 {
				c.Return = history.Line{Type: history.OK}.Event()
			}
			writes, written[to] = append(writes, c), true
		}
		var try func(value int64, least, most *int, acked int)
		try = func(value int64, least, most *int, acked int) {
			if value == first || !written[value] {
				*least, *most = min(*least, acked), max(*most, acked)
			}
			for _, c := range writes {
				if c.Invoke.New().V == value {
					one := 0
					if c.Outcome() == history.OK {
						one = 1
					}
					try(c.Invoke.Base().V, least, most, acked+one)
				}
			}
		}
		got := ways(first, append([]*history.Call(nil), writes...))
		for value := range int64(8) {
			least, most := len(writes), 0
			try(value, &least, &most, 0)
			if got[value] != (way{least, most}) {
				t.Fatalf("seed %d: %d is built upon %v, by trying from %d to %d", seed, value, got[value], least, most)
			}
			if least < most {
				open++
			}
		}
	}
	if open < 1000 {
		t.Errorf("only %d values leave a range", open)
	}
}
