//go:build series

package redislibs_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/planted"
)

// The mutants of a Redis library. Two are left out: that which takes prefixes of a token for it shows only
// where owners are called so, and that which repeats a request leaves an orphan, which is no violation.
func TestSeriesPlanted(t *testing.T) {
	planted.Searched(t, catalogue(), planted.Locks{
		Bad:  []string{"--backend mini-ignores-lost", "--backend mini-revives", "--backend mini-tells-late"},
		Good: []string{"--backend mini"},
	})
}
