package tables

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/companion"
)

// The tables are those of a host that has all programs.
func TestMain(m *testing.M) {
	companion.BeOwn()
	m.Run()
}
