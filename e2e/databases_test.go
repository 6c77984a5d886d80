//go:build databases

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/suite"
)

// TestDatabases runs what is said of locks in databases with DATABASE_SEEDS seeds (20) and writes
// docs/databases.md anew.
func TestDatabases(t *testing.T) {
	seeds, cases := number(t, "DATABASE_SEEDS", 20), suite.Databases()
	all := series(t, seeds, cases)
	if err := os.WriteFile(filepath.Join("..", "docs", "databases.md"), []byte(databasePage(seeds, cases, all)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func databasePage(seeds int, cases []suite.Case, all []shown) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Locks in databases: MariaDB and PostgreSQL

<!-- Written by `+"`make databases`"+`. Do not edit. -->

What is said of the locks on MariaDB and PostgreSQL, each with the command that shows it, run with the seeds 1 to %d;
"as it must" counts the runs that ended with the exit code, verdicts and classes that the case must have. Recovery
is the longest time of a run from the end of a fault until the lock was granted again:
median, and the range. `+"`make databases`"+` runs them all and writes this page anew; measured on a machine with %s.

| what it shows | command: `+"`lockstorm run ...`"+` | as it must | recovery | first violation |
| --- | --- | --- | --- | --- |
`, seeds, cpus())
	for i, c := range cases {
		fmt.Fprintf(&b, "| %s | `%s` | %d of %d | %s | %s |\n", c.Text, c.Run.Line(), all[i].asIt, all[i].runs, spread(all[i].recovery), spread(all[i].first))
	}
	return b.String()
}
