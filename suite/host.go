package suite

import "github.com/lockstorm/lockstorm/checker"

// The host has disturbed a run from a stall of a fiftieth of the ttl on, or where it was busy for a quarter of the run.
const (
	hostTook = 50
	HostBusy = 4
)

// Hindered reports whether the host held a run up for long enough to matter.
func Hindered(r *checker.Results) bool {
	return r.Stats["unplanned_stall_max_ns"] > r.TTL/hostTook || Busy(r)
}

// Busy reports whether tasks waited for the host for so much of a run that what is missing in it may be the host's doing.
func Busy(r *checker.Results) bool {
	return r != nil && r.Stats["host_busy_ns"] > r.Duration/HostBusy
}
