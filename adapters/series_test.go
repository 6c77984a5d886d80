//go:build series

package adapters_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
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
		"late": {
			"--nemesis delete-key --discipline told --require +loss-notice --workload counter:hold=3ttl --time 12s",
			"FAIL loss-notice",
		},
		"count": {"--workload reentrant", "FAIL mutual-exclusion"},
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

// Two clients find the same holder dead: one that looks again before it takes over is right, and one that does not takes the lock
// from the other. What is found of that names the fault that it came of.
func TestTakeover(t *testing.T) {
	paused := 0
	for seed := range 10 {
		faults := strings.Fields("--nemesis client-kill:at=before-write --nemesis client-pause:at=stale --clients 5 --time 8s --seed")
		faults = append(faults, fmt.Sprint(seed+1))
		if code, out := run(t, "python/pid_lock.py", faults...); code != harness.ExitPass && code != harness.ExitUnknown {
			t.Errorf("seed %d: exit %d\n%s", seed+1, code, out)
		}
		dir := filepath.Join(t.TempDir(), "run")
		code, out := run(t, "python/blind_pidlock.py", append(faults, "--out", dir)...)
		r, err := harness.ReadResults(dir)
		if err != nil || code != harness.ExitViolation || r.Checks[checker.MutualExclusion].Verdict != checker.Fail {
			t.Errorf("seed %d: blind: exit %d, %v\n%s", seed+1, code, err, out)
			continue
		}
		first, ofPause := takeovers(r.Checks[checker.MutualExclusion].Findings)
		if first.CauseKind != checker.CauseFault || !strings.Contains(first.Cause, "client-") {
			t.Errorf("seed %d: %s at %s; cause: %s (%s)\n%s", seed+1, first.Message, checker.Seconds(first.From), first.Cause, first.Lead,
				out)
		}
		if ofPause {
			paused++
		}
	}
	if t.Logf("%d of 10 runs show what came of a pause", paused); paused < 8 {
		t.Errorf("only %d of 10 runs show what came of a pause at the point stale", paused)
	}
}

// takeovers are the first finding, for which somebody must have died, and whether one is that of a client that was paused while
// it took the lock over.
func takeovers(findings []checker.Finding) (first checker.Finding, ofPause bool) {
	first = slices.MinFunc(findings, func(a, b checker.Finding) int { return cmp.Compare(a.From, b.From) })
	return first, slices.ContainsFunc(findings, func(f checker.Finding) bool {
		return f.CauseKind == checker.CauseFault && strings.Contains(f.Cause, "client-pause") &&
			strings.Contains(f.Cause, "reached the point stale") &&
			strings.Contains(f.Lead, "took the lock over")
	})
}

// controls are locks that are right: the reference, which needs no library for adapters, and one or two for each such library.
var controls = []string{
	"python/flock.py",
	"python/flock_helped.py", "python/flock_helped.py waits",
	"python/pid_lock.py",
	"php/flock.php", "php/flock.php waits",
	"java/flock", "java/flock waits",
	"node/socket_lock.js",
	"go/launch flock",
}

// The controls keep the protocol.
func TestControlsConform(t *testing.T) {
	var all []kept
	for _, c := range controls {
		all = append(all, kept{c, harness.ExitPass})
	}
	conform(t, all)
}

// Each control withstands twenty seeds (CONTROL_SEEDS) of each fault that strikes clients, so what such a fault finds in a
// library is not the fault of the library for adapters. What a busy host made inconclusive says nothing. A run that fails is
// kept.
func TestReference(t *testing.T) {
	seeds := setting.Number(t, "CONTROL_SEEDS", 20)
	for _, control := range controls {
		for _, fault := range []string{
			"client-pause", "client-pause:at=before-write", "client-pause:at=before-release,for=1.5ttl",
			"client-stall", "client-kill", "client-kill:at=before-write",
		} {
			t.Run(control+" "+fault, func(t *testing.T) {
				t.Parallel()
				passed := 0
				for seed := 1; seed <= seeds; seed++ {
					if holds(t, control, fault, seed) {
						passed++
					}
				}
				if t.Logf("%d of %d passed", passed, seeds); 4*passed < 3*seeds {
					t.Errorf("only %d of %d runs passed", passed, seeds)
				}
			})
		}
	}
}

// holds reports whether a run of a control passed; false without an error: it was inconclusive.
func holds(t *testing.T, control, fault string, seed int) bool {
	t.Helper()
	dir, err := os.MkdirTemp("", "control-")
	if err != nil {
		t.Fatal(err)
	}
	code, out := run(t, control, "--nemesis", fault, "--time", "4s", "--seed", fmt.Sprint(seed), "--out", filepath.Join(dir, "run"))
	switch code {
	case harness.ExitPass:
	case harness.ExitUnknown, harness.ExitEnvironment: // the latter: an adapter had not started after 10 s
		t.Logf("seed %d was inconclusive:\n%s", seed, out)
	default:
		t.Errorf("seed %d: exit %d, kept in %s\n%s", seed, code, dir, out)
		return false
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
	return code == harness.ExitPass
}

// Leader election on a real API server of Kubernetes is as examples/kubernetes.yaml expects, for ten seeds (KUBERNETES_SEEDS).
// That takes an hour or two, and a first build some 15 minutes of one core.
func TestSeriesKubernetes(t *testing.T) {
	t.Chdir("..")
	code, out := lockstorm(t, "suite", "examples/kubernetes.yaml", "--seeds", fmt.Sprint(setting.Number(t, "KUBERNETES_SEEDS", 10)),
		"--out", filepath.Join(t.TempDir(), "suite"))
	if t.Log(out); code != harness.ExitPass && code != harness.ExitUnknown { // the latter: a busy host
		t.Errorf("exit %d", code)
	}
}

// The collector of a virtual machine pauses a lock as SIGSTOP does, with the same class of violation.
func TestCollector(t *testing.T) {
	code, out := run(t, "java/curator collector", "--nemesis", "client-pause:how=collector,at=before-write", "--ttl", "500ms",
		"--time", "12s")
	text := strings.Join(strings.Fields(out), " ")
	if code != harness.ExitViolation || !strings.Contains(text, "was stopped by its garbage collector: for ") ||
		!strings.Contains(text, "Inherent to leases") || strings.Contains(text, "A defect") {
		t.Errorf("exit %d\n%s", code, out)
	}
}
