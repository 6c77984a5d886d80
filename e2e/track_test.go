//go:build track

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/suite"
)

// TestTrackRecord runs every published failure with TRACK_SEEDS seeds (20) and writes
// docs/track-record.md anew.
func TestTrackRecord(t *testing.T) {
	seeds, cases := number(t, "TRACK_SEEDS", 20), suite.Published()
	all := series(t, seeds, cases)
	if err := os.WriteFile(filepath.Join("..", "docs", "track-record.md"), []byte(trackPage(seeds, cases, all)), 0o644); err != nil {
		t.Fatal(err)
	}
}

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
