package lockstormtest_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/suite"
)

// A lock that must come through a fault. The catalogue is that of lockstorm here; that of a lock's
// author has the own lock in it.
func ExampleSafe() {
	_ = func(t *testing.T) {
		t.Parallel()
		lockstormtest.Safe(t, harness.New(stores.All()...), "--backend file-flock --nemesis client-kill --time 4s")
	}
}

// A bug that must be found, with three seeds.
func ExampleViolates() {
	_ = func(t *testing.T) {
		lockstormtest.Violates(t, harness.New(stores.All()...), "--backend none --time 2s",
			checker.MutualExclusion, checker.Defect, lockstormtest.Seeds(1, 2, 3))
	}
}

// Whatever else can be told of a run: here that the fence kept the data whole, and that somebody
// was refused.
func ExampleRun() {
	_ = func(t *testing.T) {
		lockstormtest.Run(t, harness.New(stores.All()...), "--backend redis-fenced --nemesis client-pause --fencing on",
			suite.Expectation{
				Exit:    []int{harness.ExitPass},
				Figures: map[string]suite.Bound{"fence_refused": suite.AtLeast(1), "updates_lost_fenced": suite.AtMost(0)},
			})
	}
}

// Many runs at once, each a subtest.
func ExampleCases() {
	_ = func(t *testing.T) {
		lockstormtest.Cases(t, harness.New(stores.All()...), []suite.Case{{
			Name: "control", Text: "a lock that holds passes without faults",
			Run: suite.MustLine("--backend file-flock --time 2s"), Expect: suite.Expectation{Outcome: suite.Safe},
		}})
	}
}

func ExampleMain() {
	_ = func(m *testing.M) { // the TestMain of the package
		lockstormtest.Main(m, harness.New(stores.All()...))
	}
}
