package chain

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker/internal/lin"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// randomSections are sections of a register as clients may have recorded them: mostly right,
// with intervals that overlap, some of unknown outcome, some read late.
func randomSections(d *rand.Rand) (start int64, out []Section) {
	start = int64(d.IntN(3))
	value, now, fresh := start, int64(0), int64(100)
	kind := d.IntN(3) // a counter, distinct values, any
	for range 1 + d.IntN(7) {
		s := Section{Reads: true, Writes: d.IntN(4) > 0, Base: value, Call: now - int64(d.IntN(4)), Ret: now + int64(d.IntN(4))}
		if d.IntN(7) == 0 && len(out) > 0 {
			s.Base = out[d.IntN(len(out))].Base // lost an update
		}
		if s.Writes {
			fresh++
			s.Value = [...]int64{s.Base + 1, fresh, int64(d.IntN(4))}[kind]
			s.Unknown = d.IntN(3) == 0
			s.Reads = kind < 2 || d.IntN(6) > 0
		}
		if s.Unknown {
			s.Ret = history.Forever
		}
		if s.Writes && (!s.Unknown || d.IntN(2) > 0) {
			value = s.Value
		}
		out = append(out, s)
		now += int64(d.IntN(5))
	}
	d.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return start, out
}

// The chain says what Porcupine says wherever it decides; every order of it stands up to being
// replayed, and Porcupine rejects every breach.
func TestChainAgainstPorcupine(t *testing.T) {
	t.Parallel()
	var c Chain
	count := map[string]int{}
	all := int(checkertest.Histories(t, 5_000))
	for seed := range uint64(all) {
		start, sections := randomSections(rand.New(rand.NewPCG(seed, 5)))
		want := Search(start, sections, time.Minute)
		got, order, breach := c.Judge(start, sections)
		fail := func(why string) {
			t.Fatalf("seed %d: chain %v, Porcupine %v: %s\nfrom %d: %+v", seed, got, want, why, start, sections)
		}
		count[fmt.Sprint(got)]++
		switch got {
		case lin.Legal:
			if err := Replay(start, sections, order); err != nil || want != lin.Legal {
				fail(fmt.Sprint("order ", order, ": ", err))
			}
		case lin.Illegal:
			if want != lin.Illegal || len(breach.Sections) > 4 || Search(breach.Start, breach.Sections, time.Minute) != lin.Illegal {
				fail(fmt.Sprintf("breach %+v", breach))
			}
		}
	}
	t.Logf("%d registers: %v", all, count)
	for _, a := range []lin.Answer{lin.Legal, lin.Illegal} {
		if count[fmt.Sprint(a)] < all/10 {
			t.Errorf("answer %v too seldom: %v", a, count)
		}
	}
}

// Orders that are not one in time, or not one of a register, are rejected.
func TestReplayRejects(t *testing.T) {
	sections := []Section{{Base: 0, Value: 1, Reads: true, Writes: true, Ret: 1}, {Base: 1, Reads: true, Call: 2, Ret: 3}}
	for _, order := range [][]int{{}, {0}, {1, 0}, {0, 0, 1}, {0, 1, 2}} {
		if Replay(0, sections, order) == nil {
			t.Errorf("sections in order %v are accepted", order)
		}
	}
	if err := Replay(0, sections, []int{0, 1}); err != nil {
		t.Error(err)
	}
	sections[0].Call, sections[0].Ret = 8, 9
	if Replay(0, sections, []int{0, 1}) == nil {
		t.Error("sections against time are accepted")
	}
}

// What stands for all sections between two may have been at any time: where nothing else is wrong, there is an
// order with it.
func TestWhatIsBetweenHasAPlace(t *testing.T) {
	first := Section{Base: 0, Value: 1, Reads: true, Writes: true, Call: 1, Ret: 2}
	last := Section{Base: 5, Value: 6, Reads: true, Writes: true, Call: 9, Ret: 10}
	all := joined([]Section{first}, last)
	if len(all) != 3 {
		t.Fatalf("%d sections, want one between the two: %v", len(all), all)
	}
	if got := Search(0, all, time.Second); got != lin.Legal {
		t.Errorf("%v, want an order of %v", got, all)
	}
	if next := joined([]Section{first}, Section{Base: 1, Value: 2, Reads: true, Writes: true, Call: 3, Ret: 4}); len(next) != 2 {
		t.Errorf("nothing is between these: %v", next)
	}
}
