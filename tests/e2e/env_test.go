//go:build series

package e2e

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// number is a number that the environment sets.
func number(t *testing.T, name string, def int) int {
	if os.Getenv(name) == "" {
		return def
	}
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is not a number from 1 on", name, os.Getenv(name))
	}
	return n
}

// cpus says on how many CPUs figures were measured.
func cpus() string { return fmt.Sprintf("%d CPUs", runtime.NumCPU()) }
