package ownlock_test

import (
	"testing"
	"time"

	"example.com/ownlock"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
)

// TestMain comes first of all because a run starts this binary again, once for each
// client.
func TestMain(m *testing.M) {
	harness.WorkerMain(ownlock.Catalogue())
	m.Run()
}

// TestSafe are the runs that the good lock must survive without a single finding.
func TestSafe(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*harness.Config){
		"no faults": func(*harness.Config) {},
		// A dead owner blocks the others for one lease, not for ever.
		"killed clients": nemesis("client-kill"),
		// Stopped between look and take: when it goes on, its lease has run out already.
		"paused in the protocol": nemesis("client-pause:at=" + ownlock.PointFree),
		// What a pause does to every lease, a fencing token cures.
		"paused and fenced": func(cfg *harness.Config) {
			cfg.Nemesis, cfg.Fencing = []string{"client-pause"}, history.FencingOn
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := run(t, ownlock.Name, change)
			if out.ExitCode() != harness.ExitPass {
				t.Errorf("exit code %d, want %d", out.ExitCode(), harness.ExitPass)
			}
		})
	}
}

// TestPause is what no lock with leases survives: the owner is stopped, its lease runs
// out, and it acts once more when it goes on. The lock itself is not to blame, and the
// verdict says so.
func TestPause(t *testing.T) {
	t.Parallel()
	out := run(t, ownlock.Name, nemesis("client-pause:at=before-write,every=1.6ttl"))
	if out.ExitCode() != harness.ExitViolation {
		t.Errorf("exit code %d, want %d", out.ExitCode(), harness.ExitViolation)
	}
	wantOnly(t, out, "mutual-exclusion", checker.Inherent)
	for _, check := range []string{"lock-linearizability", "ownership", "fencing-tokens", "data-fenced", "liveness"} {
		if v := out.Results.Checks[check].Verdict; v != checker.Pass {
			t.Errorf("%s: %s, want %s", check, v, checker.Pass)
		}
	}
}

// TestBlindRelease is the bug: an owner that comes back late frees somebody else's lock.
func TestBlindRelease(t *testing.T) {
	t.Parallel()
	out := run(t, ownlock.Blind, func(cfg *harness.Config) {
		// Where it hurts most, often, and with long sections, so that somebody is inside
		// whenever the late release comes.
		cfg.Nemesis = []string{"client-pause:at=before-release,every=1.6ttl"}
		cfg.Workload = "counter:hold=0.5ttl,think=0s"
	})
	if out.ExitCode() != harness.ExitViolation {
		t.Errorf("exit code %d, want %d", out.ExitCode(), harness.ExitViolation)
	}
	wantOnly(t, out, "ownership", checker.Defect)
}

func nemesis(spec string) func(*harness.Config) {
	return func(cfg *harness.Config) { cfg.Nemesis = []string{spec} }
}

// run makes one run. Its report is kept with `go test -artifacts`.
func run(t *testing.T, backend string, change func(*harness.Config)) *harness.Outcome {
	t.Helper()
	cfg := harness.Defaults()
	cfg.Backend, cfg.Out = backend, t.ArtifactDir()
	cfg.TTL, cfg.Time, cfg.Clients, cfg.Seed = 700*time.Millisecond, 4*time.Second, 3, 42
	change(&cfg)
	out, err := harness.Run(t.Context(), ownlock.Catalogue(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			explain(t, out)
		}
	})
	return out
}

// wantOnly wants a check to fail, with findings of one class alone.
func wantOnly(t *testing.T, out *harness.Outcome, check string, class checker.Class) {
	t.Helper()
	r := out.Results.Checks[check]
	if r.Verdict != checker.Fail {
		t.Errorf("%s: %s, want %s", check, r.Verdict, checker.Fail)
	}
	for _, f := range r.Findings {
		if f.Class != class {
			t.Errorf("%s: a finding of class %s, want %s alone: %s", check, f.Class, class, f.Message)
		}
	}
}

// explain shows what is wrong, or unknown, in a run that went other than expected.
func explain(t *testing.T, out *harness.Outcome) {
	t.Helper()
	if out.Trouble != nil {
		t.Logf("trouble: %v", out.Trouble)
	}
	for _, name := range out.Results.Order {
		r := out.Results.Checks[name]
		t.Logf("%s: %s %s", name, r.Verdict, r.Reason)
		for _, f := range r.Findings {
			t.Logf("  %s, %s: %s (cause: %s)", f.Rule, f.Class, f.Message, f.Cause)
		}
	}
}
