//go:build track

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// shown is what the seeds of a case gave.
type shown struct {
	mu    sync.Mutex
	runs  int
	asIt  int     // runs that ended as they must
	first []int64 // times to the first violation, ns
}

// TestTrackRecord runs every published failure with TRACK_SEEDS seeds (20) and writes
// docs/track-record.md anew.
func TestTrackRecord(t *testing.T) {
	seeds := number(t, "TRACK_SEEDS", 20)
	cases := suite.Published()
	all := make([]shown, len(cases))
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			for seed := 1; seed <= seeds; seed++ {
				t.Run(fmt.Sprintf("%s/%d", c.Name, seed), func(t *testing.T) {
					t.Parallel()
					all[i].run(t, c.Seeded(uint64(seed)))
				})
			}
		}
	})
	if err := os.WriteFile(filepath.Join("..", "docs", "track-record.md"), []byte(trackPage(seeds, cases, all)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *shown) run(t *testing.T, c suite.Case) {
	r := runCase(t, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	if !t.Failed() {
		s.asIt++
	}
	if r == nil {
		return
	}
	if at, ok := r.Stats["first_violation_ns"]; ok && exitOf(c) != harness.ExitPass {
		s.first = append(s.first, at)
	}
}

// exitOf is the exit code that a published failure ends with.
func exitOf(c suite.Case) int { return c.Expect.Exit[0] }

func trackPage(seeds int, cases []suite.Case, all []shown) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Track record

<!-- Written by `+"`make track-record`"+`. Do not edit. -->

Published failures of locks, each with the command that shows it. Every command was run with the seeds
1 to %d; "as it must" counts the runs that ended with the exit code, verdicts and classes that the case
must have. The time to the first violation is from the start of the workload's run, servers included:
median, and the range. `+"`make track-record`"+` runs them all and writes this page anew; measured on a machine
with %s.

| # | published failure | source | command: `+"`lockstorm run ...`"+` | exit | as it must | first violation |
| --- | --- | --- | --- | --- | --- | --- |
`, seeds, cpus())
	for i, c := range cases {
		fmt.Fprintf(&b, "| %d | %s | %s | `%s` | %d | %d of %d | %s |\n", i+1, c.Text, c.Source, c.Run.Line(), exitOf(c), all[i].asIt, all[i].runs, spread(all[i].first))
	}
	return b.String()
}

func spread(ns []int64) string {
	if len(ns) == 0 {
		return "none"
	}
	slices.SortFunc(ns, cmp.Compare)
	sec := func(v int64) string { return fmt.Sprintf("%.1f s", time.Duration(v).Seconds()) }
	return fmt.Sprintf("%s (%s to %s)", sec(ns[len(ns)/2]), sec(ns[0]), sec(ns[len(ns)-1]))
}
