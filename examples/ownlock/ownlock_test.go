package ownlock_test

import (
	"strings"
	"testing"

	"example.com/ownlock"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/suite"
)

// A run starts this binary again, once for each client: it must find the same catalogue.
func TestMain(m *testing.M) { lockstormtest.Main(m, catalogue()) }

// settings are common to all runs. The seed fixes what is tried, not how the processes
// interleave: faults that are tied to a point hit all the same.
const settings = " --ttl 700ms --time 3s --clients 3 --seed 42 "

// The shortest test of a lock: a dead owner blocks the others for one lease, not for ever.
func TestKilled(t *testing.T) {
	t.Parallel()
	lockstormtest.Safe(t, ownlock.Catalogue(), "--backend own-lock --nemesis client-kill"+settings)
}

// The bug of the other lock is found: somebody is inside when the late release comes, for sections
// are long.
func TestBlindRelease(t *testing.T) {
	t.Parallel()
	lockstormtest.Violates(t, ownlock.Catalogue(),
		"--backend own-lock-blind --nemesis client-pause:at=before-release,every=1.6ttl --workload counter:hold=0.5ttl,think=0s"+settings,
		checker.Ownership, checker.Defect)
}

// A fencing token cures what no lock with leases survives: an owner that is stopped.
func TestPaused(t *testing.T) {
	t.Parallel()
	const paused = " --nemesis client-pause:at=before-write,every=1.6ttl"
	lockstormtest.Cases(t, ownlock.Catalogue(), []suite.Case{
		{
			Name: "no-fence", Text: "two owners at once, because a lease had run out and for no other reason",
			Run: suite.MustLine("--backend own-lock" + paused + settings), Expect: onlyInherent(),
		},
		{
			Name: "fence", Text: "the late owner is refused",
			Run: suite.MustLine("--backend own-lock --fencing on" + paused + settings), Expect: passes(),
		},
		{
			Name: "in-the-protocol", Text: "stopped between look and take: when it goes on, its lease has run out already",
			Run: suite.MustLine("--backend own-lock --nemesis client-pause:at=" + ownlock.PointFree + settings), Expect: passes(),
		},
	})
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

// What cannot work is refused before anything is started, with a sentence.
func TestRefused(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--backend own-lock --nemesis stale-file:seen=double":         "nemesis stale-file: seen=double: choose nothing or copy",
		"--backend own-lock --nemesis stale-file:look=copy":           `nemesis stale-file has no parameter "look"`,
		"--backend file-flock --nemesis stale-file":                   "nemesis stale-file cannot work in this run: this fault does not know the lock files of backend file-flock",
		"--backend own-lock --workload ledger:accounts=1":             "workload ledger: accounts=1: choose 2 accounts or more, because money moves between two accounts",
		"--backend own-lock --workload ledger:opening=none":           "workload ledger: opening=none is not a whole number",
		"--backend own-lock --workload ledger --fencing on":           "workload ledger uses no data, so there is nothing to fence",
		"--backend own-lock --nemesis client-pause:at=entry-numbered": "at=entry-numbered: this run has no such point",
		"--backend own-lock --require ledger-hole":                    `unknown check "ledger-hole"`,
	} {
		cfg, err := harness.ParseLine(line)
		if err == nil {
			err = harness.Check(ownlock.Catalogue(), cfg)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
