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
	p.intro = fmt.Sprintf(`%s. Each case has the command that shows it, run with the seeds 1 to %d.
"As it must" counts the runs that ended with the exit code, verdicts and classes that the case must have. "Recovery"
is the longest time of a run from the end of a fault until the lock was granted again (%s included). The
column has the median and the range of this time.`, p.intro, p.seeds, included)
	p.write(t, cases, `| what it shows | command: `+"`lockstorm run ...`"+` | as it must | recovery | first violation |
| --- | --- | --- | --- | --- |
`, func(_ int, c suite.Case, s *shown) string {
		return fmt.Sprintf("| %s | `%s` | %d of %d | %s | %s |\n", c.Text, c.Run.Line(), s.asIt, s.runs, spread(s.recovery), spread(s.first))
	})
}
