package data

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/checker/internal/lin/chain"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// A section is one step from its first read to its last write.
func TestSections(t *testing.T) {
	const head = "run ends=lease fencing=off registers=plain\n0ms 1 c1 invoke acquire lock=L grant=a\n1ms 1 c1 ok acquire lock=L " +
		"grant=a\n"
	use := func(at int, f, how, value string) string {
		return fmt.Sprintf("%dms 1 c1 invoke %s lock=L grant=a register=plain %s\n%dms 1 c1 %s %s lock=L grant=a register=plain %s\n",
			at, f, value, at+1, how, f, value)
	}
	read, again := use(2, "read", "ok", "base=0"), use(6, "read", "ok", "base=1")
	write, last := use(4, "write", "ok", "base=0 new=1"), use(8, "write", "ok", "base=1 new=2")
	unknown := use(8, "write", "info", "base=1 new=2")
	const ms = int64(1e6)
	whole := chain.Section{Value: 1, Call: 2 * ms, Ret: 5 * ms, Reads: true, Writes: true}
	for _, tc := range []struct {
		what, text string
		want       []chain.Section
	}{
		{"reads", read, []chain.Section{{Call: 2 * ms, Ret: 3 * ms, Reads: true}}},
		{"reads and writes", read + write, []chain.Section{whole}},
		{
			"writes twice", read + write + again + last,
			[]chain.Section{{Value: 2, Call: 2 * ms, Ret: 9 * ms, Reads: true, Writes: true}},
		},
		{"sets", write + again, []chain.Section{{Value: 1, Call: 4 * ms, Ret: 7 * ms, Writes: true}}},
		{"reads what another one left", read + again, []chain.Section{
			{Call: 2 * ms, Ret: 3 * ms, Reads: true},
			{Base: 1, Call: 6 * ms, Ret: 7 * ms, Reads: true},
		}},
		{"writes twice, the last time perhaps", read + write + unknown, []chain.Section{
			whole, {Base: 1, Value: 2, Call: 8 * ms, Ret: history.Forever, Reads: true, Writes: true, Unknown: true},
		}},
	} {
		if got := of(checkertest.InputOf(t, head+tc.text+"end\n")).sections(nil, facts.RegPlain, "L"); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.what, got, tc.want)
		}
	}
}
