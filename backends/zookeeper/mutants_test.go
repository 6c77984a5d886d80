package zookeeper_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/leaktest"

	"github.com/lockstorm/lockstorm/backends/zookeeper"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

func catalogue() *harness.Catalogue {
	c := harness.New(zookeeper.Part())
	c.Backends.Add(zookeeper.Mutants()...)
	return c
}

// TestMain lets this binary start itself as the workers of the runs below.
func TestMain(m *testing.M) {
	harness.WorkerMain(catalogue())
	leaktest.Main(m)
}

// Every mutant of the lock for readers and writers is caught by an overlap of those that it lets
// in, and the real one is not.
func TestReadWriteMutants(t *testing.T) {
	for name, bad := range map[string]bool{
		"zk-rwlock-reader": true, "zk-rwlock-writer": true, "zk-rwlock-downgrade": true,
		"zk-rwlock": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := harness.Defaults()
			cfg.Backend, cfg.Workload, cfg.Nemesis, cfg.Seed, cfg.Time = name, "rwlock", []string{"none"}, 5, 4*time.Second
			cfg.Out = filepath.Join(t.TempDir(), "run")
			out, err := harness.Run(t.Context(), catalogue(), cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			overlaps := 0
			for _, f := range out.Results.Checks[checker.MutualExclusion].Findings {
				if f.Class == checker.Defect {
					overlaps++
				}
			}
			if (overlaps > 0) != bad {
				t.Errorf("%d overlaps; %s: %s", overlaps, out.Results.Verdict, out.Results.Checks[checker.Assumptions].Reason)
			}
		})
	}
}
