//go:build kills

package e2e

import "testing"

// kills are those of each store, and the seed of their moments.
func kills(t *testing.T) (n int, seed uint64) {
	return number(t, "KILLS", 10), uint64(number(t, "KILLS_SEED", 1))
}
