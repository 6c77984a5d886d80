package setting

import (
	"os/exec"
	"sync"
	"time"
)

// slowStart is how long a program that does nothing takes on a slow host. On the host for which this was written it took 2.7 ms
// or more.
const slowStart = 2 * time.Millisecond

// Slow reports whether this host takes long to start a program, as some virtual machines do. Tests of runs start thousands of
// them, and do fewer things at once there: what all of them are late with, they would do again and again.
var Slow = sync.OnceValue(func() bool {
	fastest := time.Hour
	for range 5 {
		begun := time.Now()
		if exec.Command("true").Run() != nil {
			return false
		}
		fastest = min(fastest, time.Since(begun))
	}
	return fastest > slowStart
})
