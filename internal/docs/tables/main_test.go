package tables

import (
	"os"
	"testing"

	"github.com/lockstorm/lockstorm/internal/companion"
)

// The tables are those of a host that has all programs. Nothing is started.
func TestMain(m *testing.M) {
	os.Setenv(companion.EnvPath, "/nonexistent/"+companion.Program) //nolint:errcheck // the name is sound
	m.Run()
}
