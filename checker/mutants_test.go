package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// mutant breaks one rule of the lock.
type mutant struct {
	name   string
	ends   string   // default lease
	caught []string // checks, at least one of which must fail
	kills  bool
	resets bool
	never  bool // the correct lock: no check may fail
}

var mutants = []mutant{
	{name: "none", never: true, kills: true},
	{name: "grants-always", caught: []string{MutualExclusion, LockLinearizability}},
	{name: "check-then-set", caught: []string{MutualExclusion, LockLinearizability}},
	{name: "blind-delete", caught: []string{Ownership}},
	{name: "shared-owner", caught: []string{Ownership}},
	{name: "expires-early", caught: []string{MutualExclusion, LockLinearizability}},
	{name: "never-expires", ends: history.EndsNever, kills: true, caught: []string{Liveness}},
	{name: "release-not-applied", ends: history.EndsNever, caught: []string{Liveness}},
	{name: "forgets-at-restart", resets: true, caught: []string{MutualExclusion, LockLinearizability}},
	{name: "revives-expired", caught: []string{LockLinearizability}},
	{name: "token-duplicate", caught: []string{FencingTokens}},
	{name: "token-regress", caught: []string{FencingTokens}},
	{name: "lies-not-held", caught: []string{LockLinearizability}},
}

// Every mutant is caught, by the check that is there for it, in each of its seeds where
// it does harm; the correct lock never fails a check.
func TestLockMutants(t *testing.T) {
	const seeds = 20
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			caught := 0
			for seed := range uint64(seeds) {
				in, err := NewInput(simulate(m, seed))
				if err != nil {
					t.Fatal(err)
				}
				r := Judge(in, Default())
				if a := r.Checks[Assumptions]; a.Verdict != Pass {
					t.Fatalf("seed %d: the simulator made an unsound record: %s", seed, a.Reason)
				}
				failed := false
				for name, c := range r.Checks {
					if strings.Contains(c.Reason, "the check itself failed") {
						t.Fatalf("seed %d: %s: %s", seed, name, c.Reason)
					}
					if c.Verdict == Fail && m.never {
						t.Fatalf("seed %d: the correct lock fails %s:\n%s", seed, name, answer(c))
					}
					failed = failed || (c.Verdict == Fail && slices.Contains(m.caught, name))
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
