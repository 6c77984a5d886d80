//go:build series

package redis_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/planted"
)

// The mutants of Redlock. Those that differ from it only after the restart of a server are left out: Redlock itself fails then.
func TestSeriesPlanted(t *testing.T) {
	planted.Searched(t, catalogue(), planted.Locks{
		Bad:  []string{"--backend redlock-minority", "--backend redlock-blind-release", "--backend redlock-different-five"},
		Good: []string{"--backend redlock"},
	})
}
