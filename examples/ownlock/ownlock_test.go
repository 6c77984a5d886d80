package ownlock_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"example.com/ownlock"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
)

// TestMain calls WorkerMain before all else, because a run starts this binary again, once
// for each client.
func TestMain(m *testing.M) {
	harness.WorkerMain(ownlock.Catalogue())
	m.Run()
}

// runs are what is expected of the locks. The seed fixes what is tried, not how the
// processes interleave: faults that are tied to a point hit all the same.
var runs = map[string]struct {
	backend, nemesis, workload, fencing string
	want                                func(*checker.Results) error
}{
	"no faults": {backend: ownlock.Name, want: pass},
	// A dead owner blocks the others for one lease, not for ever.
	"killed": {backend: ownlock.Name, nemesis: "client-kill", want: pass},
	// Stopped between look and take: when it goes on, its lease has run out already.
	"paused in the protocol": {backend: ownlock.Name, nemesis: "client-pause:at=" + ownlock.PointFree, want: pass},
	// Stopped as the owner: that, no lock with leases survives. The lock is not to blame.
	"paused": {backend: ownlock.Name, nemesis: "client-pause:at=before-write,every=1.6ttl", want: onlyInherent},
	// A fencing token cures it.
	"paused and fenced": {
		backend: ownlock.Name, nemesis: "client-pause:at=before-write,every=1.6ttl", fencing: history.FencingOn, want: pass,
	},
	// The bug. Sections are long, so that somebody is inside when the late release comes.
	"blind release": {
		backend: ownlock.Blind, nemesis: "client-pause:at=before-release,every=1.6ttl",
		workload: "counter:hold=0.5ttl,think=0s", want: foreignRelease,
	},
}

func TestRuns(t *testing.T) {
	t.Parallel()
	for name, tt := range runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := harness.Defaults()
			cfg.TTL, cfg.Time, cfg.Clients, cfg.Seed = 700*time.Millisecond, 4*time.Second, 3, 42
			cfg.Backend = tt.backend
			if tt.nemesis != "" {
				cfg.Nemesis = []string{tt.nemesis}
			}
			if tt.workload != "" {
				cfg.Workload = tt.workload
			}
			if tt.fencing != "" {
				cfg.Fencing = tt.fencing
			}
			judge(t, cfg, tt.want)
		})
	}
}

// pass wants no violation at all, and that nothing stayed unknown.
func pass(r *checker.Results) error {
	if r.ExitCode != harness.ExitPass {
		return fmt.Errorf("exit code %d, want %d", r.ExitCode, harness.ExitPass)
	}
	return nil
}

// onlyInherent wants two owners at once, because of a lease that had run out and of
// nothing else: the lock object itself did what a lock does.
func onlyInherent(r *checker.Results) error {
	errs := []error{violation(r), failsOnly(r, "mutual-exclusion", checker.Inherent)}
	for _, check := range []string{"lock-linearizability", "ownership", "fencing-tokens", "data-fenced", "liveness"} {
		if v := r.Checks[check].Verdict; v != checker.Pass {
			errs = append(errs, fmt.Errorf("%s: %s, want %s", check, v, checker.Pass))
		}
	}
	return errors.Join(errs...)
}

// foreignRelease wants the bug to be found, and to be called one.
func foreignRelease(r *checker.Results) error {
	return errors.Join(violation(r), failsOnly(r, "ownership", checker.Defect))
}

func violation(r *checker.Results) error {
	if r.ExitCode != harness.ExitViolation {
		return fmt.Errorf("exit code %d, want %d", r.ExitCode, harness.ExitViolation)
	}
	return nil
}

// failsOnly wants a check to fail with findings of one class alone.
func failsOnly(r *checker.Results, check string, class checker.Class) error {
	c := r.Checks[check]
	if c.Verdict != checker.Fail {
		return fmt.Errorf("%s: %s, want %s", check, c.Verdict, checker.Fail)
	}
	for _, f := range c.Findings {
		if f.Class != class {
			return fmt.Errorf("%s: a finding is %s, want %s alone: %s", check, f.Class, class, f.Message)
		}
	}
	return nil
}

// attempts is how often a run is made before its host is called too busy to judge a lock.
const attempts = 3

// judge makes a run and wants what want says of it. What goes wrong while the host holds
// everybody up says nothing about the lock: such a run is made again. Its reports are kept
// with `go test -artifacts`.
func judge(t *testing.T, cfg harness.Config, want func(*checker.Results) error) {
	t.Helper()
	for n := range attempts {
		cfg.Out = filepath.Join(t.ArtifactDir(), fmt.Sprintf("run-%d", n+1))
		out, err := harness.Run(t.Context(), ownlock.Catalogue(), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = want(out.Results)
		if err == nil {
			return
		}
		explain(t, out)
		if !disturbed(out, cfg.TTL) {
			t.Fatal(err)
		}
		t.Logf("the host disturbed the run, so it proves nothing: %v", err)
	}
	t.Fatalf("inconclusive: the host is too busy, %d times", attempts)
}

// disturbed reports whether the host, not a fault, stopped a party for as long as a lease
// can be short of, or the record itself is in doubt.
func disturbed(out *harness.Outcome, ttl time.Duration) bool {
	stalled := time.Duration(out.Results.Stats["unplanned_stall_max_ns"])
	return stalled > ttl/4 || out.Results.Checks["assumptions"].Verdict != checker.Pass
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
