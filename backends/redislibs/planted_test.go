//go:build series

package redislibs_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/tests/planted"
)

// The mutants of a Redis library. That which takes prefixes of a token for it shows only where owners are called so.
func TestSeriesPlanted(t *testing.T) {
	planted.Searched(t, catalogue(), planted.Locks{
		Bad:  []string{"--backend mini-ignores-lost", "--backend mini-revives", "--backend mini-tells-late", "--backend mini-retries"},
		Good: []string{"--backend mini"},
	})
}
