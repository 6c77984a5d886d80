package lockstormtest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/explore/search"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/suite"
)

// Explore searches for faults, moments and workloads that make a lock break its promises, for length, and fails the test with
// each distinct violation that it finds and the run that shows it. The line says which lock, and how it is judged, as in
// "--backend my-lock --fail-on defect"; the search chooses faults, workload, clients and time. If the line names faults, it
// injects no others. Runs without a verdict, because the host disturbed them, are no failure, unless all are.
func Explore(t testing.TB, cat *harness.Catalogue, line string, length time.Duration, opts ...Option) {
	t.Helper()
	cfg, err := harness.ParseLine(line)
	must(t, err)
	j := judgeOf(t, cat, cfg, suite.Expectation{}, opts)
	only := lists.Filter(j.cfg.Nemesis, func(n string) bool { return n != "none" })
	space, err := search.NewSpace(cat, j.cfg, search.Choice{Only: only})
	must(t, err)
	f := j.folder()
	s := &search.Search{
		Space: space, Dir: filepath.Join(f.dir, "search"), Seed: max(cfg.Seed, 1), Jobs: runtime.NumCPU(), Keep: keptRuns,
		Run: func(ctx context.Context, tr *harness.Trial, dir string) (*checker.Results, error) {
			tr.Config.Command = j.command()
			return tr.Judged(ctx, dir)
		},
	}
	ctx, cancel := inTime(t)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	st, err := s.Go(ctx)
	passed := err == nil && len(st.Violations) == 0 && st.Judged > 0
	defer f.settle(passed)
	switch {
	case st != nil && len(st.Violations) > 0:
		t.Fatalf("%s", foundIn(st, s.Dir, length))
	case err != nil:
		t.Fatalf("lockstormtest: %v", err)
	case !passed:
		t.Fatalf("lockstormtest: the search is inconclusive: it made %s, but no run had a verdict; the search is kept in %s",
			checker.Count(st.Runs, "run"), f.dir)
	}
}

// keptRuns bounds the violating runs of a search that are kept.
const keptRuns = 5

// foundIn says what a search has found.
func foundIn(st *search.State, dir string, length time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the search made %s (time limit %v), and found %s:", checker.Count(st.Runs, "run"), length,
		checker.Count(len(st.Violations), "distinct violation"))
	for _, v := range st.Violations {
		fmt.Fprintf(&b, "\n  %s, in %s: %s\n      %s", v, checker.Count(v.Runs, "run"), v.Genome, v.Message)
		if v.Dir != "" {
			fmt.Fprintf(&b, "\n      the run is kept: %s", filepath.Join(dir, v.Dir))
		}
	}
	return b.String()
}
