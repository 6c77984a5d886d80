//go:build series

package e2e

import (
	"fmt"
	"runtime"
)

// cpus says on how many CPUs figures were measured.
func cpus() string { return fmt.Sprintf("%d CPUs", runtime.NumCPU()) }
