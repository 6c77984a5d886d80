// Package setting reads what the environment asks of a test: how many runs, which seed.
package setting

import (
	"os"
	"strconv"
	"testing"
)

// Number is a whole number, 1 or more that the environment sets, else the usual one.
func Number(t testing.TB, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: the value must be a whole number, 1 or more", name, text)
	}
	return n
}

// Race says whether the race detector is there: it doubles what tests of runs ask of the processors, and fewer of them run at
// once.
const Race = race

// Random is Number of random records: a tenth of the usual number, unless LOCKSTORM_RANDOM is "all", as make judge has it.
// The judge shares nothing between records, and finds hardly more in the next thousand of them.
func Random(t testing.TB, name string, usual int) int {
	t.Helper()
	if os.Getenv("LOCKSTORM_RANDOM") != "all" {
		usual /= 10
	}
	return Number(t, name, usual)
}
