//go:build series

package e2e

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// TestSeriesContainersTrack runs every published failure with CONTAINER_SEEDS seeds (5) on servers in
// containers and writes docs/containers.md anew.
func TestSeriesContainersTrack(t *testing.T) {
	p := page{file: "containers.md", title: "The track record in containers", maker: "containers-track", seeds: setting.Number(t, "CONTAINER_SEEDS", 5)}
	p.intro = fmt.Sprintf(`[The track record](track-record.md) lists published failures of locks. For this page, the runs of the track record were made with every server in its own container
(`+"`--provider container`"+`). Every command was run with the seeds 1 to %d. For each case, the expected result is
defined in advance: the exit code, the verdicts, and the classes of findings. The column "as expected" counts the runs with the
expected result. The column "first violation" shows the time from the start of a run to its first
violation, including the start of the servers. The column gives the median and, in parentheses, the range over all runs.`, p.seeds)
	all := cases.Published()
	for i := range all {
		all[i].Run.Provider = "container"
	}
	p.write(t, all, `| # | published failure | command: `+"`lockstorm run ...`"+` | exit | as expected | first violation |
| --- | --- | --- | --- | --- | --- |
`, func(i int, c suite.Case, s *shown) string {
		return fmt.Sprintf("| %d | %s | `%s` | %d | %d of %d | %s |\n", i+1, c.Text, c.Run.Line(), exitOf(c), s.asIt, s.runs, spread(s.first))
	})
}
