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
	p.intro = fmt.Sprintf(`The table lists published failures of locks, each with a command that reproduces the failure. A row with exit code 0 shows a case without
a violation, for example because a fence prevents the failure. Every command was run with the seeds 1 to %d. Each case has an expected
exit code, and expected verdicts and classes of findings. The column "as expected" counts the runs that ended as expected. The column
"first violation" shows the time from the start of a run to its first violation, including the start of the servers (the median and the range over all runs).`, p.seeds)
	p.write(t, own.Published(), `| # | published failure | source | command: `+"`lockstorm run ...`"+` | exit | as expected | first violation |
| --- | --- | --- | --- | --- | --- | --- |
`, func(i int, c suite.Case, s *shown) string {
		return fmt.Sprintf("| %d | %s | %s | `%s` | %d | %d of %d | %s |\n", i+1, c.Text, c.Source, c.Run.Line(), exitOf(c), s.asIt, s.runs, spread(s.first))
	})
}
