package redis_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/backends/redis/embedded"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

func catalogue() *harness.Catalogue {
	c := harness.New(embedded.Part())
	c.Backends.Add(redis.RedlockMutants()...)
	return c
}

// TestMain lets this binary start itself as the workers of the runs below.
func TestMain(m *testing.M) {
	harness.WorkerMain(catalogue())
	// What is tested here waits for most of a run.
	if err := flag.Set("test.parallel", "3"); err != nil { // -parallel says otherwise
		panic(err)
	}
	os.Exit(m.Run())
}

// Every mutant of Redlock is caught by the fault that is made for it, and the real one
// withstands the same.
func TestRedlockMutants(t *testing.T) {
	faults := map[string]string{
		// c1 reaches two nodes and the others three: without it the race must be met by chance.
		"redlock-minority":       "partition-client:clients=c1,nodes=redis-1+redis-2+redis-3,at=before-acquire,for=3s",
		"redlock-blind-release":  "client-pause:at=before-release",
		"redlock-first-node":     "server-restart:nodes=redis-1,at=acquired",
		"redlock-hasty-delayed":  "server-restart:nodes=3,at=acquired",
		"redlock-different-five": "none",
	}
	// Who holds the lock for long is there to be robbed, whenever the paused one goes on, or a client finds the restarted server.
	long := map[string]string{
		"redlock-blind-release": "counter:hold=0.5ttl", "redlock-first-node": "counter:hold=0.25ttl",
		"redlock-hasty-delayed": "counter:hold=0.5ttl",
	}
	good := map[string]string{
		"redlock-hasty-delayed": "redlock-delayed",
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Whom a fault hits is not repeated by a seed, least of all on a busy host: one of six shows the bug.
			if !slices.ContainsFunc([]uint64{5, 6, 7, 8, 9, 10},
				func(seed uint64) bool { return defect(t, name, fault, long[name], seed) }) {
				t.Errorf("%s survives %s", name, fault)
			}
			real := good[name]
			if real == "" {
				real = "redlock"
			}
			if name == "redlock-first-node" {
				fault += ",grant=all" // a grant by three does not survive the loss of one of them
			}
			if defect(t, real, fault, long[name], 5) {
				t.Errorf("%s does not survive %s", real, fault)
			}
		})
	}
}

// defect makes a run and reports whether any check found a defect.
func defect(t *testing.T, backend, fault, workload string, seed uint64) bool {
	cfg := harness.Defaults()
	cfg.Backend, cfg.Nemesis, cfg.Seed, cfg.Time = backend, []string{fault}, seed, 4*time.Second
	if workload != "" {
		cfg.Workload, cfg.Time = workload, 10*time.Second
	}
	cfg.Out = filepath.Join(t.TempDir(), "run")
	out, err := harness.Run(context.Background(), catalogue(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, seed %d: %s; %s", backend, seed, out.Results.Verdict, out.Results.Checks[checker.Coverage].Reason)
	for _, c := range out.Results.Checks {
		for _, f := range c.Findings {
			if f.Class == checker.Defect {
				return true
			}
		}
	}
	return false
}
