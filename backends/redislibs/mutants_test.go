package redislibs_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/redislibs"
	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/suite"
)

func catalogue() *harness.Catalogue {
	c := harness.New(stores.All()...)
	c.Backends.Add(redislibs.Minis()...)
	return c
}

// TestMain lets this binary start itself as the workers of the runs below.
func TestMain(m *testing.M) {
	harness.WorkerMain(catalogue())
	// What is tested here waits for most of a run.
	if err := flag.Set("test.parallel", "6"); err != nil { // -parallel says otherwise
		panic(err)
	}
	os.Exit(m.Run())
}

// mutantSeeds are how many seeds each mutant is run with: MUTANT_SEEDS.
func mutantSeeds(t *testing.T) []uint64 {
	n := 1
	if text := os.Getenv("MUTANT_SEEDS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			t.Fatalf("MUTANT_SEEDS=%q is no number of seeds", text)
		}
	}
	var seeds []uint64
	for i := range n {
		seeds = append(seeds, uint64(i+1))
	}
	return seeds
}

// Each bug that a library could have is found by a finding of its own, which the library without
// it does not get under the same.
func TestMutants(t *testing.T) {
	seeds := mutantSeeds(t)
	const lin, mutex = checker.LockLinearizability, checker.MutualExclusion
	for _, c := range []struct{ bug, run, check, rule string }{
		// It says that a lease runs that has run out: others are granted what it was told it has.
		{"ignores-lost", "--nemesis client-pause:at=acquired,for=1.5ttl --workload counter:hold=2.5ttl --time 5s", lin, ""},
		// It takes a lock again that others had in between: where the other one holds it again when the
		// pause ends, nothing is taken, so there are several pauses.
		{
			"revives", "--clients 2 --nemesis client-pause:at=acquired,for=3ttl --workload counter:hold=0.5ttl,think=3ttl --time 24s", lin,
			"revived-lease",
		},
		{"prefixes", "--workload counter:token=prefix --time 2s", mutex, "overlap"},
		{
			"tells-late", "--nemesis partition-client:mode=blackhole,at=acquired,for=3ttl --workload counter:hold=2.5ttl --time 9s", mutex,
			"late-notice",
		},
		// The answer that is lost may be that of a greeting: there are several faults.
		{"retries", "--nemesis lost-reply:at=before-acquire --time 16s", checker.Liveness, "orphan"},
	} {
		t.Run(c.bug, func(t *testing.T) {
			t.Parallel()
			want := suite.Expectation{Rules: map[string][]string{c.check: {c.rule}}}
			if c.rule == "" {
				want = suite.Expectation{
					Verdicts: map[string]checker.Verdict{c.check: checker.Fail},
					Classes:  map[string]checker.Class{c.check: checker.Defect},
				}
			}
			for _, seed := range seeds { // the fault hits by chance: on a busy host it may take more than one run
				lockstormtest.Run(t, catalogue(), "--backend mini-"+c.bug+" "+c.run, want, lockstormtest.FirstOf(seed, seed+1000, seed+2000))
			}
		})
		if c.check == checker.Liveness {
			continue // a lost answer leaves an orphan without retries as well
		}
		t.Run("control of "+c.bug, func(t *testing.T) {
			t.Parallel()
			out := lockstormtest.Run(t, catalogue(), "--backend mini --seed 1 "+c.run, suite.Expectation{Exit: []int{0, 1, 2}})
			for _, f := range out.Results.Checks[c.check].Findings {
				if f.Class == checker.Defect && !f.Doubtful {
					t.Errorf("%s: %s", f.Rule, f.Message)
				}
			}
		})
	}
}

// The library without any bug is never said to have one, under any fault that libraries are put under: with
// MUTANT_SEEDS=20, 180 runs. Its server keeps its keys over a restart, which it has no say in.
func TestControl(t *testing.T) {
	for _, c := range cases.Libraries() {
		if !strings.HasPrefix(c.Name, "redsync, one node/") {
			continue
		}
		fault := c.Run.Nemesis[0]
		for _, seed := range mutantSeeds(t) {
			t.Run(fmt.Sprintf("%s/%d", fault, seed), func(t *testing.T) {
				t.Parallel()
				line := fmt.Sprintf("--backend mini --topology redis-single-aof --time 4s --nemesis %s --seed %d", fault, seed)
				out := lockstormtest.Run(t, catalogue(), line, suite.Expectation{Exit: []int{0, 1, 2}})
				if got := suite.WordOf(out.Results); got != suite.Safe && got != suite.Inherent {
					t.Errorf("%s: %s", line, got)
				}
			})
		}
	}
}
