package plan

import (
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
)

// A restart is not among the first faults of a lock whose servers keep nothing: the lock would be right, and red.
func TestForgets(t *testing.T) {
	cat := harness.New(stores.All()...)
	for name, want := range map[string]bool{
		"redis-lua": true, "sql-for-update": false, "file-flock": false,
		"zk-sequential": false,
	} {
		if got := forgets(cat, []string{"file-flock", name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// InitOwn is for the tests that know the book of lockstorm, from outside.
var InitOwn = initOwn
