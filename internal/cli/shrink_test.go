package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// What cannot be shrunk is refused with the reason; internal/tests/e2e shrinks.
func TestShrinkUsage(t *testing.T) {
	dir := violated(t)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{dir, "--check", "liveness"}, "check liveness found no violation in the run"},
		{[]string{dir, "--runs", "10", "--rate", "10"}, "leaves no run of --runs"},
		{[]string{dir, "--out", dir}, "is not empty"},
		{[]string{filepath.Dir(dir)}, "has no file trial.json"},
		{[]string{dir, "--rate", "0"}, "1 or more"},
		{nil, "accepts 1 arg"},
	} {
		if code, out, errs := lockstorm(t, append([]string{"shrink"}, tc.args...)...); code != 3 ||
			!strings.Contains(out+errs, tc.want) {
			t.Errorf("shrink %v: exit %d, want %q in\n%s%s", tc.args, code, tc.want, out, errs)
		}
	}
}
