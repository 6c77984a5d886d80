package cases

import (
	"os"
	"testing"

	"github.com/lockstorm/lockstorm/internal/companion"
)

// A case is sound or not wherever it is looked at: also where its servers are missing. Nothing is started.
func TestMain(m *testing.M) {
	os.Setenv(companion.EnvPath, "/nonexistent/"+companion.Program) //nolint:errcheck // the name is sound
	m.Run()
}
