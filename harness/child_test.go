package harness

import (
	"slices"
	"strings"
	"testing"
)

// A child sees no processes before its own code begins, unless the user has said where they are; then it sees them.
func TestAChildLooksAtNoProcesses(t *testing.T) {
	for set, want := range map[string]string{"": envProc + "=" + noProc, "/host/proc": envProc + "=/host/proc"} {
		t.Setenv(envProc, set)
		cmd, err := childCommand(childWorker)
		if err != nil {
			t.Fatal(err)
		}
		if last := lastOf(cmd.Env, envProc+"="); last != want {
			t.Errorf("%q: the child has %q, want %q", set, last, want)
		}
	}
}

// lastOf is the one that counts of the entries that begin so.
func lastOf(env []string, prefix string) string {
	for _, e := range slices.Backward(env) {
		if strings.HasPrefix(e, prefix) {
			return e
		}
	}
	return ""
}
