package suite

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/leaktest"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
)

// The test binary starts itself again as the workers of its runs.
func TestMain(m *testing.M) {
	harness.WorkerMain(harness.New(stores.All()...))
	leaktest.Main(m)
}
