package checker

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker/lin"
	"github.com/lockstorm/lockstorm/history"
)

// Passing over blocks finds what looking at each grant finds.
func TestAnsweredNext(t *testing.T) {
	d := newDice(1)
	for range 200 {
		var grants []*lockGrant
		for i := range d.IntN(4 * blockSize) {
			from := d.within(0, 40)
			grants = append(grants, &lockGrant{number: i, from: from, ok: from + d.within(0, 90)})
		}
		a := sortedByOK(grants)
		for range 50 {
			i, moment := d.IntN(len(grants)+1), d.within(-1, 45)
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

// A section is one step from its first read to its last write.
func TestSections(t *testing.T) {
	const head = "run ends=lease fencing=off registers=plain\n0ms 1 c1 invoke acquire lock=L grant=a\n1ms 1 c1 ok acquire lock=L grant=a\n"
	use := func(at int, f, how, value string) string {
		return fmt.Sprintf("%dms 1 c1 invoke %s lock=L grant=a register=plain %s\n%dms 1 c1 %s %s lock=L grant=a register=plain %s\n", at, f, value, at+1, how, f, value)
	}
	read, again := use(2, "read", "ok", "base=0"), use(6, "read", "ok", "base=1")
	write, last := use(4, "write", "ok", "base=0 new=1"), use(8, "write", "ok", "base=1 new=2")
	unknown := use(8, "write", "info", "base=1 new=2")
	const ms = int64(1e6)
	whole := lin.Section{Value: 1, Call: 2 * ms, Ret: 5 * ms, Reads: true, Writes: true}
	for _, tc := range []struct {
		what, text string
		want       []lin.Section
	}{
		{"reads", read, []lin.Section{{Call: 2 * ms, Ret: 3 * ms, Reads: true}}},
		{"reads and writes", read + write, []lin.Section{whole}},
		{"writes twice", read + write + again + last, []lin.Section{{Value: 2, Call: 2 * ms, Ret: 9 * ms, Reads: true, Writes: true}}},
		{"sets", write + again, []lin.Section{{Value: 1, Call: 4 * ms, Ret: 7 * ms, Writes: true}}},
		{"reads what another one left", read + again, []lin.Section{{Call: 2 * ms, Ret: 3 * ms, Reads: true}, {Base: 1, Call: 6 * ms, Ret: 7 * ms, Reads: true}}},
		{"writes twice, the last time perhaps", read + write + unknown, []lin.Section{
			whole, {Base: 1, Value: 2, Call: 8 * ms, Ret: history.Forever, Reads: true, Writes: true, Unknown: true},
		}},
	} {
		if got := inputOf(t, head+tc.text+"end\n").sections(nil, regPlain, "L"); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.what, got, tc.want)
		}
	}
}
