//go:build series

package sql_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/planted"
)

// The mutants of locks in databases.
func TestSeriesPlanted(t *testing.T) {
	planted.Searched(t, catalogue(), planted.Locks{
		Bad: []string{
			"--backend lease-steals", "--backend lease-robs", "--backend lease-repeats", "--backend optimistic-deaf",
			"--backend rows-forget",
		},
		Good: []string{"--backend sql-lease-row", "--backend sql-optimistic", "--backend sql-for-update"},
	})
}
