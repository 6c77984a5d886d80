//go:build soak || track

package e2e

import (
	"os"
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
