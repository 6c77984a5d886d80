package history

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The runtime's clock is CLOCK_MONOTONIC: the same readings in every process of the host.
func TestMonotonicIsTheKernels(t *testing.T) {
	for range 1000 {
		before := monotonic()
		var ts unix.Timespec
		mustClock(unix.CLOCK_MONOTONIC, &ts)
		after := monotonic()
		if k := ts.Nano(); k < before || k > after {
			t.Fatalf("CLOCK_MONOTONIC is %d, the runtime's clock %d before and %d after", k, before, after)
		}
	}
}

func TestClockFromSharesTheBase(t *testing.T) {
	a := NewClock()
	b := ClockFrom(a.Base())
	if x, y, z := a.Now(), b.Now(), a.Now(); x > y || y > z || x < 0 {
		t.Errorf("readings %d, %d, %d do not grow", x, y, z)
	}
}

// The wall clock against the monotonic one: nobody sets it during this test, and a
// preemption between the readings is not taken for a step.
func TestWallOffsetIsSteady(t *testing.T) {
	first := WallOffset()
	for range 2000 {
		if step := WallOffset() - first; max(step, -step) > int64(5e6) {
			t.Fatalf("a step of %d ns", step)
		}
	}
}
