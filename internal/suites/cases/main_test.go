package cases

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/companion"
)

// A case is sound or not wherever it is looked at: also where its servers are missing.
func TestMain(m *testing.M) {
	companion.BeOwn()
	m.Run()
}
