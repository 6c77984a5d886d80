// Package planted asks whether a search finds bugs that were planted in locks, and nothing in the locks without them.
package planted

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/explore/search"
)

// known are faults under which every lock in memory, or with a lease, fails by design: what they show is not the bug.
var known = []string{"evict", "flush", "delete-key", "session-expire", "clock-jump", "server-restart", "server-kill"}

// Locks are lines of flags, as "--backend sql-lease-row"; in those of Bad a bug was planted, those of Good are what they were
// made of.
type Locks struct{ Bad, Good []string }

// Searched searches each lock for PLANTED_FOR (3m), and ends at the first violation that leases do not explain. A bug that is not
// found fails the test, and so does a lock without one in which something was found.
func Searched(t *testing.T, cat *harness.Catalogue, locks Locks) {
	length, err := time.ParseDuration(cmp.Or(os.Getenv("PLANTED_FOR"), "3m"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range locks.Bad {
		t.Run("bad/"+line, func(t *testing.T) {
			t.Parallel()
			st := searched(t, cat, line, length)
			if len(st.Violations) == 0 {
				t.Fatalf("the planted bug was not found in %d runs", st.Runs)
			}
			v := st.Violations[0]
			t.Logf("the planted bug was found after %v, in run %d: %s (settings of the run: %s)", v.After.Round(time.Second), v.Nth, v,
				v.Genome)
		})
	}
	for _, line := range locks.Good {
		t.Run("good/"+line, func(t *testing.T) {
			t.Parallel()
			st := searched(t, cat, line, length)
			for _, v := range st.Violations {
				t.Errorf("violation in run %d, although no bug was planted: %s (settings of the run: %s)\n%s", v.Nth, v, v.Genome, v.Message)
			}
			t.Logf("%d runs, %d without a verdict", st.Runs, st.Unjudged)
		})
	}
}

func searched(t *testing.T, cat *harness.Catalogue, line string, length time.Duration) *search.State {
	t.Helper()
	cfg, err := harness.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	cfg.FailOn = "defect"
	space, err := search.NewSpace(cat, cfg, search.Choice{Without: known})
	if err != nil {
		t.Fatal(err)
	}
	const jobs = 2
	s := &search.Search{
		Space: space, Dir: filepath.Join(t.TempDir(), "search"), Seed: 1, Jobs: jobs, StopAt: 1,
		Run: func(ctx context.Context, tr *harness.Trial, dir string) (*checker.Results, error) {
			return tr.Judged(ctx, dir)
		},
	}
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	st, err := s.Go(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return st
}
