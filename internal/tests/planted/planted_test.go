//go:build series

package planted_test

import (
	"os"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/tests/planted"
)

func catalogue() *harness.Catalogue { return harness.New(stores.All()...) }

func TestMain(m *testing.M) {
	harness.WorkerMain(catalogue())
	os.Exit(m.Run())
}

// The flawed locks of the catalogue, and those of adapters. The adapter that tells of a loss late shows only where a check is
// asked for.
func TestSeriesPlanted(t *testing.T) {
	const python = "--backend exec:cmd=../../../adapters/testdata/planted.py -- "
	planted.Searched(t, catalogue(), planted.Locks{
		Bad: []string{
			"--backend redis-get-del", "--backend redis-del", "--backend redis-setnx-expire", "--backend redis-setnx",
			"--backend file-excl",
			"--backend zk-exclusive-norecheck", "--backend zk-sequential-norecheck", "--backend zk-seed001",
			"--backend sql-for-update-missing-row:key=no", "--backend sql-optimistic-noid", "--backend sql-value-cas",
			"--backend sql-timestamp",
			python + "foreign", python + "split", python + "count",
		},
		Good: []string{"--backend redis-lua", "--backend zk-exclusive", "--backend zk-sequential"},
	})
}
