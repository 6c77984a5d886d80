package ownlock_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"example.com/ownlock"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// TestMain calls WorkerMain before all else, because a run starts this binary again, once
// for each client.
func TestMain(m *testing.M) {
	harness.WorkerMain(ownlock.Catalogue())
	m.Run()
}

// settings are common to all runs. The seed fixes what is tried, not how the processes
// interleave: faults that are tied to a point hit all the same.
const settings = " --ttl 700ms --time 4s --clients 3 --seed 42 "

// cases are what is expected of the locks.
func cases() []suite.Case {
	const paused = "--nemesis client-pause:at=before-write,every=1.6ttl"
	return []suite.Case{
		{
			Name: "no-faults", Text: "left alone, the lock does what a lock does",
			Run: suite.MustLine("--backend own-lock" + settings), Expect: passes(),
		},
		{
			Name: "killed", Text: "a dead owner blocks the others for one lease, not for ever",
			Run: suite.MustLine("--backend own-lock --nemesis client-kill" + settings), Expect: passes(),
		},
		{
			Name: "paused-in-the-protocol", Text: "stopped between look and take: when it goes on, its lease has run out already",
			Run:    suite.MustLine("--backend own-lock --nemesis client-pause:at=" + ownlock.PointFree + settings),
			Expect: passes(),
		},
		{
			Name: "paused", Text: "stopped as the owner: that, no lock with leases survives; the lock is not to blame",
			Run: suite.MustLine("--backend own-lock " + paused + settings), Expect: onlyInherent(),
		},
		{
			Name: "paused-and-fenced", Text: "a fencing token cures it",
			Run: suite.MustLine("--backend own-lock --fencing on " + paused + settings), Expect: passes(),
		},
		{
			Name: "blind-release", Text: "the bug: sections are long, so that somebody is inside when the late release comes",
			Run:    suite.MustLine("--backend own-lock-blind --nemesis client-pause:at=before-release,every=1.6ttl --workload counter:hold=0.5ttl,think=0s" + settings),
			Expect: foreignRelease(),
		},
	}
}

// passes is no violation at all, and nothing that stayed unknown.
func passes() suite.Expectation { return suite.Expectation{Exit: []int{harness.ExitPass}} }

// onlyInherent is two owners at once, because of a lease that had run out and of nothing
// else: the lock object itself did what a lock does.
func onlyInherent() suite.Expectation {
	return suite.Expectation{
		Exit: []int{harness.ExitViolation},
		Verdicts: map[string]checker.Verdict{
			checker.MutualExclusion: checker.Fail, checker.LockLinearizability: checker.Pass, checker.Ownership: checker.Pass,
			checker.FencingTokens: checker.Pass, checker.DataFenced: checker.Pass, checker.Liveness: checker.Pass,
		},
		Classes: map[string]checker.Class{checker.MutualExclusion: checker.Inherent},
	}
}

// foreignRelease is the bug, found, and called one.
func foreignRelease() suite.Expectation {
	return suite.Expectation{
		Exit:     []int{harness.ExitViolation},
		Verdicts: map[string]checker.Verdict{checker.Ownership: checker.Fail},
		Classes:  map[string]checker.Class{checker.Ownership: checker.Defect},
	}
}

// The cases are possible, and ask what can be told of a run.
func TestCasesAreSound(t *testing.T) {
	if err := suite.Validate(ownlock.Catalogue(), cases()...); err != nil {
		t.Error(err)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			judge(t, c)
		})
	}
}

// attempts is how often a run is made before its host is called too busy to judge a lock.
const attempts = 3

// judge makes the run of a case and wants what the case expects. What goes wrong while the
// host holds everybody up says nothing about the lock: such a run is made again. Its
// reports are kept with `go test -artifacts`.
func judge(t *testing.T, c suite.Case) {
	t.Helper()
	for n := range attempts {
		out, differ, err := c.Do(t.Context(), ownlock.Catalogue(), filepath.Join(t.ArtifactDir(), fmt.Sprintf("run-%d", n+1)))
		if err != nil {
			t.Fatal(err)
		}
		if len(differ) == 0 {
			return
		}
		explain(t, out)
		if !disturbed(out, c.Run.TTL) {
			t.Fatal(suite.Sentences(differ))
		}
		t.Logf("the host disturbed the run, so it proves nothing: %s", suite.Sentences(differ))
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
