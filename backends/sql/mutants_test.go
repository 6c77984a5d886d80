package sql_test

import (
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/leaktest"

	"github.com/lockstorm/lockstorm/backends/sql"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
)

func catalogue() *harness.Catalogue {
	c := harness.New(sql.Part())
	locks, registers := sql.Mutants()
	c.Backends.Add(locks...)
	c.Registers.Add(registers...)
	return c
}

// TestMain lets this binary start itself as the workers of the runs below.
func TestMain(m *testing.M) {
	harness.WorkerMain(catalogue())
	// What is tested here waits for half of a run: its servers are made, and copied, before it.
	if err := flag.Set("test.parallel", "4"); err != nil { // -parallel says otherwise
		panic(err)
	}
	leaktest.Main(m)
}

// Every mutant is caught by the check that is there for it, and the lock that it was made of passes
// the same run.
func TestMutants(t *testing.T) {
	type run struct {
		backend, register string
		bad               bool
	}
	for _, c := range []struct {
		// where there is a fault, the next one must have been inside when the first wakes up
		name, check, nemesis, workload, fencing string
		mutant, real                            run
	}{
		// the longest come first
		{
			// The next one has read, and still stays, when the first wakes up and writes: a read that does not pass the fence lets it.
			// A lease that is renewed every third is over 0.7 to 1 ttl after the pause began, and the next one stays 1.2 to 2.5.
			"a fence that reads do not pass", checker.DataFenced, "client-pause:at=before-write,for=1.5ttl", "counter:hold=2.5ttl",
			history.FencingOn,
			run{backend: "sql-lease-row", register: "postgres-read-open"},
			run{backend: "sql-lease-row", register: "postgres"},
		},
		{
			"a release that frees whoever has it", checker.Ownership, "client-pause:at=before-release,for=0.8ttl", "counter:hold=0.9ttl",
			"",
			run{backend: "lease-robs"},
			run{backend: "sql-lease-row"},
		},
		{
			"a lease that is taken whoever has it", checker.MutualExclusion, "none", "", "",
			run{backend: "lease-steals"},
			run{backend: "sql-lease-row"},
		},
		{
			"tokens that do not grow", checker.FencingTokens, "none", "", "",
			run{backend: "lease-repeats"},
			run{backend: "sql-lease-row"},
		},
		{
			"an update whose rows are not counted", checker.DataPlain, "none", "", "",
			run{backend: "optimistic-deaf"},
			run{backend: "sql-optimistic"},
		},
		{"a commit that is none", checker.DataPlain, "none", "", "", run{backend: "rows-forget"}, run{backend: "sql-for-update"}},
	} {
		c.mutant.bad = true
		for _, one := range []run{c.mutant, c.real} {
			t.Run(c.name+"/"+one.backend+one.register, func(t *testing.T) {
				t.Parallel()
				cfg := harness.Defaults()
				cfg.Backend, cfg.Nemesis, cfg.Time, cfg.Register = one.backend, []string{c.nemesis}, 4*time.Second, one.register
				if c.workload != "" {
					cfg.Workload, cfg.Time = c.workload, 10*time.Second
				}
				if c.fencing != "" {
					cfg.Fencing, cfg.Clients = c.fencing, 3
				}
				seeds := []uint64{3}
				if one.bad { // on a busy host the next one may come too late, or hardly anything be done at all
					seeds = []uint64{3, 4, 5, 6, 7, 8}
				}
				var r checker.Result
				for _, cfg.Seed = range seeds {
					cfg.Out = filepath.Join(t.TempDir(), "run")
					out, err := harness.Run(t.Context(), catalogue(), cfg, nil)
					if err != nil {
						t.Fatal(err)
					}
					if r = out.Results.Checks[c.check]; r.Verdict == checker.Fail {
						break
					}
				}
				if caught := r.Verdict == checker.Fail; caught != one.bad {
					t.Errorf("%s: %s (%s)", c.check, r.Verdict, r.Reason)
				}
			})
		}
	}
}
