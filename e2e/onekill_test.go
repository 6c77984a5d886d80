//go:build fast && !kills

package e2e

import "testing"

// kills are those of each store: one, while its data folder is made and it starts.
func kills(*testing.T) (n int, seed uint64) { return 1, 1 }
