//go:build series

package e2e

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// TestSeriesDatabases runs what is said of locks in databases with DATABASE_SEEDS seeds (20) and writes
// docs/databases.md anew.
func TestSeriesDatabases(t *testing.T) {
	recoveryPage(t, page{
		file: "databases.md", title: "Locks in databases: MariaDB and PostgreSQL", maker: "databases",
		intro: "The table lists test cases of the locks on MariaDB and PostgreSQL", seeds: setting.Number(t, "DATABASE_SEEDS", 20),
	}, cases.Databases(), "restarts and promotions")
}
