//go:build series

package e2e

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// TestSeriesTrackRecord runs every published failure with TRACK_SEEDS seeds (20) and writes
// docs/track-record.md anew.
func TestSeriesTrackRecord(t *testing.T) {
	p := page{file: "track-record.md", title: "Track record", maker: "track-record", seeds: setting.Number(t, "TRACK_SEEDS", 20)}
	p.intro = fmt.Sprintf(`The table lists published failures of locks, each with a command that reproduces the failure. A row with exit code 0 shows a case without
a violation, for example because a fence prevents the failure. Every command was run with the seeds 1 to %d. For each case, the
expected result is defined in advance: the exit code, the verdicts, and the classes of findings (inherent or defect). The column "as expected" counts the
runs with the expected result. The column "first violation" shows the time from the start of a run to its first violation: the median and, in
parentheses, the range over all runs. This time includes the start of the servers. The entry "none" means that no run had a violation.`, p.seeds)
	p.write(t, cases.Published(), `| # | published failure | source | command: `+"`lockstorm run ...`"+` | exit | as expected | first violation |
| --- | --- | --- | --- | --- | --- | --- |
`, func(i int, c suite.Case, s *shown) string {
		return fmt.Sprintf("| %d | %s | %s | `%s` | %d | %d of %d | %s |\n", i+1, c.Text, c.Source, c.Run.Line(), exitOf(c), s.asIt, s.runs, spread(s.first))
	})
}
