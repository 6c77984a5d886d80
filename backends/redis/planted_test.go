//go:build series

package redis_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/tests/planted"
)

// The mutants of Redlock. Those of redlock-delayed differ from it only after a restart, under which Redlock itself fails.
func TestSeriesPlanted(t *testing.T) {
	planted.Searched(t, catalogue(), planted.Locks{
		Bad:  []string{"--backend redlock-minority", "--backend redlock-blind-release", "--backend redlock-first-node", "--backend redlock-different-five"},
		Good: []string{"--backend redlock"},
	})
}
