//go:build series

package e2e

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// TestSeriesEnsembles runs what is said of locks in sessions with ENSEMBLE_SEEDS seeds (20) and writes
// docs/ensembles.md anew.
func TestSeriesEnsembles(t *testing.T) {
	recoveryPage(t, page{
		file: "ensembles.md", title: "Locks in sessions: ZooKeeper and etcd", maker: "ensembles",
		intro: "The table lists test cases of the locks on ZooKeeper and etcd", seeds: setting.Number(t, "ENSEMBLE_SEEDS", 20),
	}, cases.Ensembles(), "elections and the expiry of sessions")
}
