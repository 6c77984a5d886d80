package checker_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// mutant breaks one rule of the lock.
type mutant struct {
	Name   string
	ends   string   // default lease
	caught []string // checks, at least one of which must fail
	kills  bool
	resets bool
	never  bool // the correct lock: no check may fail
}

var mutants = []mutant{
	{Name: "none", never: true, kills: true},
	{Name: "grants-always", caught: []string{checker.MutualExclusion, checker.LockLinearizability}},
	{Name: "check-then-set", caught: []string{checker.MutualExclusion, checker.LockLinearizability}},
	{Name: "blind-delete", caught: []string{checker.Ownership}},
	{Name: "shared-owner", caught: []string{checker.Ownership}},
	{Name: "expires-early", caught: []string{checker.MutualExclusion, checker.LockLinearizability}},
	{Name: "never-expires", ends: history.EndsNever, kills: true, caught: []string{checker.Liveness}},
	{Name: "release-not-applied", ends: history.EndsNever, caught: []string{checker.Liveness}},
	{Name: "forgets-at-restart", resets: true, caught: []string{checker.MutualExclusion, checker.LockLinearizability}},
	{Name: "revives-expired", caught: []string{checker.LockLinearizability}},
	{Name: "token-duplicate", caught: []string{checker.FencingTokens}},
	{Name: "token-regress", caught: []string{checker.FencingTokens}},
	{Name: "lies-not-held", caught: []string{checker.LockLinearizability}},
}

// Every mutant is caught, by the check that is there for it, in each of its seeds where
// it does harm; the correct lock never fails a check.
func TestLockMutants(t *testing.T) {
	const seeds = 20
	for _, m := range mutants {
		t.Run(m.Name, func(t *testing.T) {
			caught := 0
			for seed := range uint64(seeds) {
				in, err := checker.NewInput(simulate(m, seed))
				if err != nil {
					t.Fatal(err)
				}
				r := checker.Judge(in, checks.Default())
				if a := r.Checks[checker.Assumptions]; a.Verdict != checker.Pass {
					t.Fatalf("seed %d: the simulator made an unsound record: %s", seed, a.Reason)
				}
				failed := false
				for name, c := range r.Checks {
					if strings.Contains(c.Reason, "the check itself crashed") {
						t.Fatalf("seed %d: %s: %s", seed, name, c.Reason)
					}
					if c.Verdict == checker.Fail && m.never {
						t.Fatalf("seed %d: the correct lock fails %s:\n%s", seed, name, checkertest.Answer(c))
					}
					failed = failed || (c.Verdict == checker.Fail && slices.Contains(m.caught, name))
				}
				if failed {
					caught++
				}
			}
			t.Logf("caught in %d of %d seeds", caught, seeds)
			if !m.never && caught < seeds/2 {
				t.Errorf("caught in %d of %d seeds only", caught, seeds)
			}
		})
	}
}
