package nemesis

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
