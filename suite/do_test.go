package suite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

func do(t *testing.T, c Case) (*harness.RunOutcome, []Difference, error) {
	t.Helper()
	return c.Do(t.Context(), catalogue(), filepath.Join(t.TempDir(), "run"))
}

// A run that is as it must be differs in nothing; whatever else is expected of its real
// results is contradicted.
func TestDo(t *testing.T) {
	t.Parallel()
	c := Case{
		Run: MustLine("--backend none --clients 3 --ttl 500ms --time 1s --seed 5"),
		Expect: Expectation{
			Outcome: Defect, Exit: codes{harness.ExitViolation},
			Verdicts: verdicts{checker.MutualExclusion: checker.Fail}, Classes: classes{checker.MutualExclusion: checker.Defect},
			Rules: map[string][]string{checker.MutualExclusion: {"overlap"}}, Figures: figures{"violations": AtLeast(1)},
		},
	}
	out, differ, err := do(t, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(differ) > 0 {
		t.Errorf("%s", Sentences(differ))
	}
	caught(t, out.ExitCode(), out.Results)
	c.Expect = passes()
	if _, differ, err = do(t, c); err != nil || len(differ) != 1 || differ[0].What != DiffExit {
		t.Errorf("no lock at all, expected to pass: %v (%v)", differ, err)
	}
}

// A run that is refused has an exit code like any other; its error is returned, unless
// that was expected.
func TestDoWhatIsRefused(t *testing.T) {
	t.Parallel()
	c := Case{Run: MustLine("--backend file-flock --nemesis flush"), Expect: Expectation{Exit: codes{harness.ExitUsage}}}
	if out, differ, err := do(t, c); out != nil || len(differ) > 0 || err != nil {
		t.Errorf("refused as it must be: %v, %v, %v", out, differ, err)
	}
	for _, e := range []Expectation{passes(), {Outcome: Any}} {
		c.Expect = e
		_, differ, err := do(t, c)
		if len(differ) != 1 || !errors.As(err, new(*harness.Error)) {
			t.Errorf("expected %+v, and refused: %v (%v)", e, differ, err)
		}
	}
}

// A run that is interrupted before it began is no run.
func TestDoInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := Case{Run: MustLine("--backend redis-lua --time 1s"), Expect: Expectation{Outcome: Any}}
	_, differ, err := c.Do(ctx, catalogue(), filepath.Join(t.TempDir(), "run"))
	if err == nil || len(differ) != 1 || differ[0].What != DiffResults {
		t.Errorf("%v (%v)", differ, err)
	}
}
