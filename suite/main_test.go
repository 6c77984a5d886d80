package suite

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/leaktest"

	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/backends/redis/embedded"
	"github.com/lockstorm/lockstorm/harness"
)

// catalogue has the stores of these tests.
func catalogue() *harness.Catalogue { return harness.New(file.Part(), embedded.Part()) }

// The test binary starts itself again as the workers of its runs.
func TestMain(m *testing.M) {
	harness.WorkerMain(catalogue())
	leaktest.Main(m)
}
