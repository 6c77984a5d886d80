package cases

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Short names for the data of this package.
type (
	codes    = []int
	verdicts = map[string]checker.Verdict
	classes  = map[string]checker.Class
	figures  = map[string]suite.Bound
	rules    = map[string][]string
)

// doubleHolder is a violation in which two clients hold the lock, all of one class.
func doubleHolder(class checker.Class) suite.Expectation {
	return violates(verdicts{checker.MutualExclusion: checker.Fail}, classes{checker.MutualExclusion: class})
}

// violates is a violation with the verdicts and the classes that checks must give.
func violates(v verdicts, c classes) suite.Expectation {
	return suite.Expectation{Exit: codes{harness.ExitViolation}, Verdicts: v, Classes: c}
}

// fails is a violation that a check must find.
func fails(check string) suite.Expectation { return violates(verdicts{check: checker.Fail}, nil) }

// passes is a run without a violation, of which nothing stayed unknown.
func passes() suite.Expectation { return suite.Expectation{Exit: codes{harness.ExitPass}} }

// threeOfFive has c1 granted by three of five nodes: for so long it does not reach the
// other two.
func threeOfFive(long string) string {
	return "--clients 3 --nemesis partition-client:clients=c1,nodes=redis-4+redis-5,at=before-acquire,for=" + long + ",every=10s "
}
