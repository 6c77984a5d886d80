package history

import (
	_ "unsafe" // for the name of the runtime's clock

	"golang.org/x/sys/unix"
)

// Clock reads CLOCK_MONOTONIC against one base. All processes of a run share the base,
// so their times can be compared.
type Clock struct{ base int64 }

// NewClock starts a clock whose time 0 is now.
func NewClock() Clock { return Clock{base: monotonic()} }

// ClockFrom returns the clock of another process of this host, given its base.
func ClockFrom(base int64) Clock { return Clock{base: base} }

// Base returns the CLOCK_MONOTONIC reading at time 0, to pass to other processes.
func (c Clock) Base() int64 { return c.base }

// Now returns the time since the base in ns.
func (c Clock) Now() int64 { return monotonic() - c.base }

// WallOffset returns CLOCK_REALTIME minus CLOCK_MONOTONIC in ns. It changes only when somebody sets or slews the wall
// clock, by which stores expire their keys.
//
// The two clocks cannot be read at once: of several tries the closest counts, so that a preemption in between is not
// taken for a step.
func WallOffset() int64 {
	var offset int64
	closest := int64(Forever)
	for try := 0; try < wallTries || (closest > wallGap && try < 10*wallTries); try++ {
		before := monotonic()
		var ts unix.Timespec
		mustClock(unix.CLOCK_REALTIME, &ts)
		after := monotonic()
		if after-before < closest {
			closest = after - before
			offset = ts.Nano() - (before+after)/2
		}
	}
	return offset
}

const (
	wallTries = 3
	wallGap   = int64(100_000) // ns: closer is close enough
)

// monotonic reads CLOCK_MONOTONIC through the vDSO, as the runtime does for time.Now: a
// tenth of the cost of the system call. A test holds it against the system call.
//
//go:linkname monotonic runtime.nanotime
func monotonic() int64

func mustClock(id int32, ts *unix.Timespec) {
	if err := unix.ClockGettime(id, ts); err != nil {
		panic("history: cannot read the clock of the kernel: " + err.Error())
	}
}
