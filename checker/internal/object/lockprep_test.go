package object

import (
	"math/rand/v2"
	"testing"
)

// Passing over blocks finds what looking at each grant finds.
func TestAnsweredNext(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var grants []*lockGrant
		for i := range d.IntN(4 * blockSize) {
			from := d.Int64N(41)
			grants = append(grants, &lockGrant{number: i, from: from, ok: from + d.Int64N(91)})
		}
		a := sortedByOK(grants)
		for range 50 {
			i, moment := d.IntN(len(grants)+1), d.Int64N(47)-1
			want := i
			for want < len(a.grants) && a.grants[want].from <= moment {
				want++
			}
			if got := a.next(i, moment); got != want {
				t.Fatalf("%d grants, from %d after %d: %d, want %d", len(grants), i, moment, got, want)
			}
		}
	}
}
