//go:build series

package e2e

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/suite/own"
	"github.com/lockstorm/lockstorm/tests/setting"
)

// TestSeriesTrackRecord runs every published failure with TRACK_SEEDS seeds (20) and writes
// docs/track-record.md anew.
func TestSeriesTrackRecord(t *testing.T) {
	p := page{file: "track-record.md", title: "Track record", maker: "track-record", seeds: setting.Number(t, "TRACK_SEEDS", 20)}
	p.intro = fmt.Sprintf(`Published failures of locks, each with the command that shows it. Every command was run with the seeds
1 to %d; "as it must" counts the runs that ended with the exit code, verdicts and classes that the case
must have. The time to the first violation is from the start of the workload's run, servers included:
median, and the range.`, p.seeds)
	p.write(t, own.Published(), `| # | published failure | source | command: `+"`lockstorm run ...`"+` | exit | as it must | first violation |
| --- | --- | --- | --- | --- | --- | --- |
`, func(i int, c suite.Case, s *shown) string {
		return fmt.Sprintf("| %d | %s | %s | `%s` | %d | %d of %d | %s |\n", i+1, c.Text, c.Source, c.Run.Line(), exitOf(c), s.asIt, s.runs, spread(s.first))
	})
}
