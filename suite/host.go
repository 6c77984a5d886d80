package suite

import "github.com/lockstorm/lockstorm/checker"

// The host has disturbed a run from a stall of a fiftieth of the ttl on, or where it was busy for a quarter of the run.
const (
	hostTook = 50
	hostBusy = 4
)

// Hindered reports whether the host held a run up for long enough to matter.
func Hindered(r *checker.Results) bool {
	return r.Stats["unplanned_stall_max_ns"] > r.TTL/hostTook || Busy(r.Stats, r.Duration)
}

// Busy reports whether tasks waited for the host for so much of a run of the length, in ns, that missing observations
// may be the host's doing, and the run's times say nothing of the lock.
func Busy(stats checker.Figures, length int64) bool { return stats["host_busy_ns"] > length/hostBusy }
