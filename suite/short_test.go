package suite

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

// Short names for the data of these tests.
type (
	codes    = []int
	verdicts = map[string]checker.Verdict
	classes  = map[string]checker.Class
	figures  = map[string]Bound
)

func fails(check string) Expectation {
	return Expectation{Exit: codes{harness.ExitViolation}, Verdicts: verdicts{check: checker.Fail}}
}

func passes() Expectation { return Expectation{Exit: codes{harness.ExitPass}} }
