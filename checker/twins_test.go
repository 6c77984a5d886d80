package checker_test

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

var gridModels = map[string][]history.Model{
	"exclusive":  {{}},
	"read-write": {{Kind: history.ModelReadWrite}},
	"reentrant":  {{Kind: history.ModelReentrant}},
	"session":    {{Session: true}, {Kind: history.ModelReadWrite, Session: true}, {Kind: history.ModelReentrant, Session: true}},
}

// disagree says in what the checker and the brute-force judges differ; empty: in nothing.
func (r gridRun) disagree(t testing.TB, size int) (what string, legal, apart bool) {
	in := r.input(t)
	pairs := r.pairs()
	got := ask(t, checker.MutualExclusion, in)
	if n := int(got.Figures["violations"]); n != pairs || (got.Verdict == checker.Pass) != (pairs == 0) {
		what = fmt.Sprintf("mutual-exclusion: %s with %d pairs, brute force: %d pairs\n", got.Verdict, n, pairs)
	}
	legal = r.linearizable()
	want := checker.Pass
	if !legal {
		want = checker.Fail
	}
	got = judgeLocks(in, size)
	if got.Verdict != want {
		what += fmt.Sprintf("lock-linearizability: %s, brute force: %s\n", got.Verdict, want)
	}
	for _, f := range got.Findings {
		if f.Class != checker.Defect || f.CauseKind == "" || len(f.Grants) == 0 {
			what += fmt.Sprintf("a finding without class, cause or grants: %+v\n", f)
		}
	}
	return what, legal, pairs == 0
}

// On every small history of every model, the sweep over proven holds finds an overlap
// exactly where two clients believe at the same time what they may not believe together, and
// the engine finds a violation exactly where no order of the operations is one of the lock.
func TestModelsAgainstBruteForce(t *testing.T) {
	for name, models := range gridModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			illegal, overlapping := 0, 0
			n := checkertest.Histories(t, 1_500)
			for seed := range n {
				d := newDice(seed)
				r := d.grid(oneOf(d, models...))
				size := oneOf(d, 1, 0)
				what, legal, apart := r.disagree(t, size)
				if what != "" {
					r = r.shrink(t, size)
					what, _, _ = r.disagree(t, size)
					t.Fatalf("seed %d: %s%s", seed, what, describeGrid(r.input(t)))
				}
				if !legal {
					illegal++
				}
				if !apart {
					overlapping++
				}
			}
			t.Logf("%d histories: %d illegal, %d with overlaps", n, illegal, overlapping)
			if few := int(n / 50); illegal < few || overlapping < few {
				t.Errorf("%d of %d histories are illegal, %d have overlaps: too few to be a test", illegal, n, overlapping)
			}
		})
	}
}

// shrink takes away what the disagreement does not need.
func (r gridRun) shrink(t testing.TB, size int) gridRun {
	for {
		found := false
		for _, s := range r.smaller() {
			if what, _, _ := s.disagree(t, size); what != "" {
				r, found = s, true
				break
			}
		}
		if !found {
			return r
		}
	}
}
