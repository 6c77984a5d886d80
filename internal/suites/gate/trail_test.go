package gate

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// How often an outcome showed again is counted by the checks that failed.
func TestRateOf(t *testing.T) {
	runs := []RunResult{
		failing(checker.Ownership, checker.Defect), failing(checker.Ownership, checker.Inherent),
		failing(checker.Liveness, checker.Defect), passing(),
	}
	for i, want := range []string{
		"failed in 2 of the 4 runs", "failed in 2 of the 4 runs", "failed in 1 of the 4 runs",
		"1 of the 4 runs",
	} {
		if got := rateOf(runs, i); !strings.Contains(got, want) {
			t.Errorf("run %d: %q, want %q", i, got, want)
		}
	}
	if got := rateOf(runs[:1], 0); got != "" {
		t.Errorf("a single run: %q", got)
	}
}
