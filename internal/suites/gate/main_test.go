package gate

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/leaktest"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
)

// The test binary starts itself again as the workers of its runs.
func TestMain(m *testing.M) {
	harness.WorkerMain(harness.New(stores.All()...))
	shrinkLeast = 8 * time.Second // what is made smaller is tried by tests of explore
	leaktest.Main(m)
}
