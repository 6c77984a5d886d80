package checker

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/checker/lin"
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
	for _, tc := range []struct {
		what, text string
		want       lin.Section
		ok         bool
	}{
		{"reads", read, lin.Section{Call: 2 * ms, Ret: 3 * ms, Reads: true}, true},
		{"reads and writes", read + write, lin.Section{Value: 1, Call: 2 * ms, Ret: 5 * ms, Reads: true, Writes: true}, true},
		{"writes twice", read + write + again + last, lin.Section{Value: 2, Call: 2 * ms, Ret: 9 * ms, Reads: true, Writes: true}, true},
		{"sets", write + again, lin.Section{Value: 1, Call: 4 * ms, Ret: 5 * ms, Writes: true}, true},
		{"writes twice, the last time perhaps", read + write + unknown, lin.Section{}, false},
	} {
		var v view
		ok := inputOf(t, head+tc.text+"end\n").sections(&v, regPlain, "L")
		if ok != tc.ok || (ok && (len(v.sections) != 1 || v.sections[0] != tc.want)) {
			t.Errorf("%s: %v %+v, want %v %+v", tc.what, ok, v.sections, tc.ok, tc.want)
		}
	}
}
