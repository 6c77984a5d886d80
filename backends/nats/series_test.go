//go:build series

package nats

import (
	"testing"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// The leaders of embedded servers are replaced like those of the program.
func TestSeriesElections(t *testing.T) {
	ensembletest.StartWith(t, ensembletest.Named(t, Topologies(), Three), cluster.EmbeddedName, embedded).Elections()
}
