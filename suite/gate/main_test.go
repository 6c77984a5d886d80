package gate

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/lockstorm/lockstorm/harness"
)

// The test binary starts itself again as the workers of its runs.
func TestMain(m *testing.M) {
	harness.WorkerMain(harness.Default())
	goleak.VerifyTestMain(m)
}
