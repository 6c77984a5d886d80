package waits

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// Stalls and faults that overlap hold a client up once: what is left of a try is not made shorter by counting
// them twice.
func TestHeldBackCountsOnce(t *testing.T) {
	in := of(checkertest.InputOf(t, `run ends=lease workload=try ttl=1s
0ms 1 c1 invoke try-acquire lock=L grant=a
300ms - controller info stall {"late_ns":200000000}
350ms - controller info stall {"late_ns":200000000}
1000ms 1 c1 fail try-acquire lock=L grant=a error=held
end
`))
	c := in.Grants[0].Acquire
	if got := in.heldBack("c1", history.Interval{From: c.Start(), To: c.End()}); got != 250e6 {
		t.Errorf("held back for %s, want 250 ms", checker.Millis(got))
	}
}
