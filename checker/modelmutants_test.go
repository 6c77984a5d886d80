package checker_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// modelMutant is a lock of a model with one bug; "correct" has none.
type modelMutant struct {
	name   string
	model  history.Model
	caught []string // every one of these checks must fail in some seed
}

var (
	readWrite = history.Model{Kind: history.ModelReadWrite}
	reentrant = history.Model{Kind: history.ModelReentrant}
	sessions  = history.Model{Session: true}

	both = []string{checker.MutualExclusion, checker.LockLinearizability}
)

var modelMutants = []modelMutant{
	{name: "correct", model: history.Model{}},
	{name: "correct", model: readWrite},
	{name: "reader-ignores-writer", model: readWrite, caught: both},
	{name: "writer-ignores-readers", model: readWrite, caught: both},
	{name: "upgrade-beside-readers", model: readWrite, caught: both},
	{name: "downgrade-lets-in", model: readWrite, caught: both},
	{name: "reader-frees-readers", model: readWrite, caught: both},
	{name: "correct", model: reentrant},
	{name: "release-frees-all", model: reentrant, caught: both},
	{name: "count-forgotten", model: reentrant, caught: both},
	{name: "owner-by-prefix", model: reentrant, caught: both},
	{name: "correct", model: sessions},
	{name: "correct", model: history.Model{Kind: history.ModelReadWrite, Session: true}},
	{name: "correct", model: history.Model{Kind: history.ModelReentrant, Session: true}},
	{name: "forgets-renewals", model: sessions, caught: both},
	{name: "release-ends-session", model: history.Model{Kind: history.ModelReentrant, Session: true}, caught: both},
}

// Every bug of a model is caught by the judges that are there for it; the correct lock of
// every model never fails a check.
func TestModelMutants(t *testing.T) {
	const seeds = 20
	for _, m := range modelMutants {
		name := m.name + "/" + m.model.Kind
		if m.model.Session {
			name += "-session"
		}
		t.Run(name, func(t *testing.T) {
			failed := map[string]int{}
			for seed := range uint64(seeds) {
				in, err := checker.NewInput(newModelSim(m, seed).simulate())
				if err != nil {
					t.Fatal(err)
				}
				r := checker.Judge(in, checks.Default())
				if a := r.Checks[checker.Assumptions]; a.Verdict != checker.Pass {
					t.Fatalf("seed %d: the simulator made an unsound record: %s", seed, a.Reason)
				}
				for name, c := range r.Checks {
					if c.Code == checker.CodePanicked || c.Code == checker.CodeTimeout {
						t.Fatalf("seed %d: %s: %s", seed, name, c.Reason)
					}
					if c.Verdict == checker.Fail && m.caught == nil {
						t.Fatalf("seed %d: the correct lock fails %s:\n%s", seed, name, checkertest.Answer(c))
					}
					if c.Verdict == checker.Fail && certain(c) {
						failed[name]++
					}
				}
				if m.caught == nil && r.Stats["grants"] < 50 {
					t.Fatalf("seed %d: %d grants only", seed, r.Stats["grants"])
				}
			}
			t.Logf("caught in so many of %d seeds: %v", seeds, failed)
			for _, check := range m.caught {
				if failed[check] < seeds/2 {
					t.Errorf("%s has caught it in %d of %d seeds only", check, failed[check], seeds)
				}
			}
		})
	}
}

// certain reports whether a check blames the lock itself.
func certain(c checker.Result) bool {
	return slices.ContainsFunc(c.Findings, func(f checker.Finding) bool { return f.Class == checker.Defect })
}
