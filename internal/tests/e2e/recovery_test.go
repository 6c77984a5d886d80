//go:build series

package e2e

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/suite"
)

// recoveryPage writes a page of what is said of locks in a kind of store, with the time until they
// come back.
func recoveryPage(t *testing.T, p page, cases []suite.Case, included string) {
	p.intro = fmt.Sprintf(`%s. Each case is a command, which was run with the seeds 1 to %d.
For each case, the expected result is defined in advance: the exit code, the verdicts, and the classes of findings. The column
"as expected" counts the runs with the expected result. The column "recovery" shows the time from the end of a fault until a client
got the lock again. The recovery time includes %s. If a run has several faults, the column uses the
longest recovery time of the run. The column "first violation" shows the time from the start of a run to its first violation. The columns "recovery"
and "first violation" show the median and, in parentheses, the range over all runs. The entry "none" means that no run has a value for the column, for example
because no run had a fault or a violation.`, p.intro, p.seeds, included)
	p.write(t, cases, `| what it shows | command: `+"`lockstorm run ...`"+` | as expected | recovery | first violation |
| --- | --- | --- | --- | --- |
`, func(_ int, c suite.Case, s *shown) string {
		return fmt.Sprintf("| %s | `%s` | %d of %d | %s | %s |\n", c.Text, c.Run.Line(), s.asIt, s.runs, spread(s.recovery), spread(s.first))
	})
}
