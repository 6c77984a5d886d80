//go:build ensembles

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/suite"
)

// TestEnsembles runs what is said of locks in sessions with ENSEMBLE_SEEDS seeds (20) and writes
// docs/ensembles.md anew.
func TestEnsembles(t *testing.T) {
	seeds, cases := number(t, "ENSEMBLE_SEEDS", 20), suite.Ensembles()
	all := series(t, seeds, cases)
	if err := os.WriteFile(filepath.Join("..", "docs", "ensembles.md"), []byte(ensemblePage(seeds, cases, all)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ensemblePage(seeds int, cases []suite.Case, all []shown) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Locks in sessions: ZooKeeper and etcd

<!-- Written by `+"`make ensembles`"+`. Do not edit. -->

What is said of the locks on ZooKeeper and etcd, each with the command that shows it, run with the seeds 1 to %d;
"as it must" counts the runs that ended with the exit code, verdicts and classes that the case must have. Recovery
is the longest time of a run from the end of a fault until the lock was granted again (sessions and elections
included): median, and the range. `+"`make ensembles`"+` runs them all and writes this page anew; measured on a machine with %s.

| what it shows | command: `+"`lockstorm run ...`"+` | as it must | recovery | first violation |
| --- | --- | --- | --- | --- |
`, seeds, cpus())
	for i, c := range cases {
		fmt.Fprintf(&b, "| %s | `%s` | %d of %d | %s | %s |\n", c.Text, c.Run.Line(), all[i].asIt, all[i].runs, spread(all[i].recovery), spread(all[i].first))
	}
	return b.String()
}
