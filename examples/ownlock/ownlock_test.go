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

// A run starts this binary again, once for each client, so TestMain must pass the same catalogue to all of them.
func TestMain(m *testing.M) { lockstormtest.Main(m, catalogue()) }

// settings are common to all runs. The seed determines the faults, but not the order in which the processes
// execute their steps. A fault at a point acts in every run, whatever this order is.
const settings = " --ttl 700ms --time 3s --clients 3 --seed 42 "

// The shortest test of a lock: if the holder dies, the other clients get the lock when its lease has expired.
func TestKilled(t *testing.T) {
	t.Parallel()
	lockstormtest.Safe(t, ownlock.Catalogue(), "--backend own-lock --nemesis client-kill"+settings)
}

// lockstorm finds the bug of own-lock-blind: its release does not check the owner. The critical sections are long, so another
// client holds the lock when the late release of the paused client frees it.
func TestBlindRelease(t *testing.T) {
	t.Parallel()
	lockstormtest.Violates(t, ownlock.Catalogue(),
		"--backend own-lock-blind --nemesis client-pause:at=before-release,every=1.6ttl --workload counter:hold=0.5ttl,think=0s"+
			settings,
		checker.Ownership, checker.Defect)
}

// If the holder is paused, every lock with leases allows a late write. A fencing token prevents the damage.
func TestPaused(t *testing.T) {
	t.Parallel()
	const paused = " --nemesis client-pause:at=before-write,every=1.6ttl"
	lockstormtest.Cases(t, ownlock.Catalogue(), []suite.Case{
		{
			Name: "no-fence", Text: "two clients hold the lock at once, only because the lease of the paused client has expired",
			Run: suite.MustLine("--backend own-lock" + paused + settings), Expect: onlyInherent(),
		},
		{
			Name: "fence", Text: "the register refuses the late write of the paused client",
			Run: suite.MustLine("--backend own-lock --fencing on" + paused + settings), Expect: passes(),
		},
		{
			Name: "in-the-protocol", Text: "the client is paused while it acquires the lock: when it resumes, its new lease has already " +
				"expired, so it does not use the lock",
			Run: suite.MustLine("--backend own-lock --nemesis client-pause:at=" + ownlock.PointFree + settings), Expect: passes(),
		},
	})
}

// passes expects no violation, and a verdict of every required check.
func passes() suite.Expectation { return suite.Expectation{Exit: []int{harness.ExitPass}} }

// onlyInherent expects that two clients hold the lock at once, but only because a lease has expired. All checks of
// the lock itself pass.
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

// A run that cannot work is refused before it starts, with a message that gives the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--backend own-lock --nemesis stale-file:seen=double": "nemesis stale-file: seen=double: choose nothing or copy",
		"--backend own-lock --nemesis stale-file:look=copy":   `nemesis stale-file has no parameter "look"`,
		"--backend file-flock --nemesis stale-file": "the fault stale-file cannot work in this run: this fault " +
			"does not know the lock files of backend file-flock",
		"--backend own-lock --workload ledger:accounts=1": "workload ledger: accounts=1: choose 2 accounts or more, " +
			"because money moves between two accounts",
		"--backend own-lock --workload ledger:opening=none":           "workload ledger: opening=none is not a whole number",
		"--backend own-lock --workload ledger --fencing on":           "workload ledger has no data to fence",
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
