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
	p.intro = fmt.Sprintf(`The table lists published failures of locks, each with the command that shows the failure. Every command was run with the seeds
1 to %d. "As it must" counts the runs that ended with the exit code, verdicts and classes that the case
must have. The time to the first violation runs from the start of the run, including the start of its servers. The
column has the median and the range of this time.`, p.seeds)
	p.write(t, own.Published(), `| # | published failure | source | command: `+"`lockstorm run ...`"+` | exit | as it must | first violation |
| --- | --- | --- | --- | --- | --- | --- |
`, func(i int, c suite.Case, s *shown) string {
		return fmt.Sprintf("| %d | %s | %s | `%s` | %d | %d of %d | %s |\n", i+1, c.Text, c.Source, c.Run.Line(), exitOf(c), s.asIt, s.runs, spread(s.first))
	})
}
