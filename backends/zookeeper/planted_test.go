//go:build series

package zookeeper_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/planted"
)

// The mutants of the lock for readers and writers.
func TestSeriesPlanted(t *testing.T) {
	planted.Searched(t, catalogue(), planted.Locks{
		Bad:  []string{"--backend zk-rwlock-reader", "--backend zk-rwlock-writer", "--backend zk-rwlock-downgrade"},
		Good: []string{"--backend zk-rwlock"},
	})
}
