//go:build series

package adapters_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
)

// kazoo 2.8.0 lets a reader wait for writers that came after it, which wait for the reader (python-zk/kazoo issue 649).
func TestKazooReadersWaitForEver(t *testing.T) {
	version, err := exec.Command("/usr/bin/python3", "-c", "import kazoo.version; print(kazoo.version.__version__)").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := harness.ExitPass
	if strings.TrimSpace(string(version)) == "2.8.0" {
		want = harness.ExitViolation
	}
	if code, out := run(t, "python/kazoo_lock.py rwlock", "--workload", "rwlock"); code != want {
		t.Errorf("kazoo %s: exit %d\n%s", version, code, out)
	}
}

// Each bug that is planted in a lock of Python and of Java is found, by its own finding, ten times of ten.
func TestPlanted(t *testing.T) {
	for way, c := range map[string]struct {
		flags, finds string
	}{
		"foreign": {"--nemesis client-pause:at=before-release,for=1.5ttl --time 8s", "FAIL ownership"},
		"split":   {"--nemesis client-pause:at=compared,for=1.5ttl --time 8s", "FAIL ownership"},
		"late":    {"--nemesis delete-key --discipline told --require +loss-notice --workload counter:hold=3ttl --time 12s", "FAIL loss-notice"},
		"count":   {"--workload reentrant", "FAIL mutual-exclusion"},
	} {
		for _, program := range []string{"testdata/planted.py", "testdata/java/planted"} {
			t.Run(program+" "+way, func(t *testing.T) {
				t.Parallel()
				for seed := range 10 {
					args := append(strings.Fields(c.flags), "--seed", fmt.Sprint(seed+1))
					code, out := run(t, program+" "+way, args...)
					if code != harness.ExitViolation || !strings.Contains(strings.Join(strings.Fields(out), " "), c.finds) {
						t.Errorf("seed %d: exit %d\n%s", seed+1, code, out)
					}
				}
			})
		}
	}
}

// The reference withstands twenty seeds of each fault that strikes clients. What a busy host made inconclusive says nothing.
func TestReference(t *testing.T) {
	for _, fault := range []string{"client-pause", "client-pause:at=before-write", "client-pause:at=before-release,for=1.5ttl", "client-kill", "client-kill:at=before-write"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			passed := 0
			for seed := range 20 {
				code, out := run(t, "python/flock.py", "--nemesis", fault, "--time", "4s", "--seed", fmt.Sprint(seed+1))
				switch code {
				case harness.ExitPass:
					passed++
				case harness.ExitUnknown:
				default:
					t.Errorf("seed %d: exit %d\n%s", seed+1, code, out)
				}
			}
			if t.Logf("%d of 20 passed", passed); passed < 15 {
				t.Errorf("only %d of 20 passed: the others were inconclusive", passed)
			}
		})
	}
}

// The collector of a virtual machine pauses a lock as SIGSTOP does, with the same class of violation.
func TestCollector(t *testing.T) {
	code, out := run(t, "java/curator collector", "--nemesis", "client-pause:how=collector,at=before-write", "--ttl", "500ms", "--time", "12s")
	text := strings.Join(strings.Fields(out), " ")
	if code != harness.ExitViolation || !strings.Contains(text, "was stopped by its garbage collector: for ") || !strings.Contains(text, "Inherent to leases") || strings.Contains(text, "A defect") {
		t.Errorf("exit %d\n%s", code, out)
	}
}
