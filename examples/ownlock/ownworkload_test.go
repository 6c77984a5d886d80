package ownlock_test

import (
	"testing"

	"example.com/ownlock"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/suite"
)

// The ledger stays whole under a lock that holds, also where clients die in its middle.
func TestLedger(t *testing.T) {
	t.Parallel()
	for _, nemesis := range []string{"", " --nemesis client-kill:at=entry-numbered"} {
		out := lockstormtest.Safe(t, ownlock.Catalogue(), "--backend own-lock --workload ledger:accounts=2,opening=10"+nemesis+settings)
		if n := out.Results.Stats["ledger_entries"]; n < 10 {
			t.Errorf("%d entries", n)
		}
	}
}

// A client that is stopped just before it writes overwrites what it has not read; one that is stopped
// before it looks at its lease does not.
func TestLedgerPaused(t *testing.T) {
	t.Parallel()
	paused := "--backend own-lock --workload ledger --nemesis client-pause:at="
	lockstormtest.Violates(t, ownlock.Catalogue(), paused+"before-write"+settings, ownlock.LedgerWhole, checker.Inherent)
	lockstormtest.Safe(t, ownlock.Catalogue(), paused+ownlock.PointNumbered+settings)
}

// A workload with a bug is found by the check, and no lock is blamed for it.
func TestLedgerLate(t *testing.T) {
	t.Parallel()
	lockstormtest.Run(t, ownlock.Catalogue(), "--backend own-lock --workload ledger-late"+settings, suite.Expectation{
		Exit:     []int{harness.ExitViolation},
		Verdicts: map[string]checker.Verdict{ownlock.LedgerWhole: checker.Fail},
		Classes:  map[string]checker.Class{ownlock.LedgerWhole: checker.NoClass},
		Rules:    map[string][]string{ownlock.LedgerWhole: {ownlock.RuleTwice}},
	})
}
