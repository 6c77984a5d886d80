package workloads_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/backends/redis/embedded"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/suite"
)

func catalogue() *harness.Catalogue {
	c := harness.New(file.Part(), embedded.Part())
	c.Backends.Add(ticketSpecs()...)
	return c
}

// The test binary starts itself again as the workers of its runs.
func TestMain(m *testing.M) { lockstormtest.Main(m, catalogue()) }

// What each workload is there to find is found by its own check where it was planted, and the same
// workload passes where it was not.
func TestPlantedBugsAreFound(t *testing.T) {
	const moment = " --ttl 400ms --time 4s --clients 4" // on a busy host two of them show nothing
	var cases []suite.Case
	for _, c := range []struct{ name, check, bad, good string }{
		{"try", checker.Bounded, "--backend tickets-wait --workload try:bound=0.25ttl,hold=1ttl", "--backend tickets --workload " +
			"try:bound=0.25ttl,hold=1ttl"},
		{"handoff", checker.Fairness, "--backend tickets-newest --workload handoff:hold=60ms", "--backend tickets --workload " +
			"handoff:hold=60ms"},
		{"two-locks", checker.Liveness, "--backend tickets --locks 2 --workload two-locks", "--backend tickets --locks 2 --workload " +
			"counter"},
		{"stock", checker.Stock, "--backend none --workload stock", "--backend tickets --workload stock"},
		{"job", checker.Once, "--backend tickets --workload job", "--backend tickets --workload job:mark=before"},
		{"reentrant", checker.MutualExclusion, "--backend tickets-once --workload reentrant", "--backend tickets-reentrant " +
			"--workload reentrant"},
		{
			"reentrant-anybody", checker.LockLinearizability, "--backend tickets-anybody --workload reentrant",
			"--backend tickets-reentrant --workload reentrant",
		},
	} {
		cases = append(cases, suite.Case{
			Name: c.name + "/planted", Text: "check " + c.check + " finds what was planted", Run: suite.MustLine(c.bad + moment),
			Expect: suite.Expectation{Verdicts: map[string]checker.Verdict{c.check: checker.Fail}},
		}, suite.Case{
			Name: c.name + "/right", Text: "and nothing where nothing is", Run: suite.MustLine(c.good + moment),
			Expect: suite.Expectation{Exit: []int{harness.ExitPass}},
		})
	}
	lockstormtest.Cases(t, catalogue(), cases)
}
