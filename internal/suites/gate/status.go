// Package gate runs suites and judges them: cells in parallel within what the host can bear, each run
// kept in a directory of its own, and from those directories alone what came of each cell and of the
// whole. What was stored can be judged again, merged with other shards, gone on with, and compared.
//
//	[]plan.Cell -> Runner -> OUT/runs/CELL/seed-N/ (a run and its outcome.json)
//	OUT/suite.json + outcomes -> Load -> Suite -> Judge -> Results -> reports, exit code
package gate

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Status is what became of a run or a cell, beside what was expected of it.
type Status string

// The statuses, in the order in which one hides another: a violation is never masked.
const (
	Violation    Status = "violation"       // that nobody expected
	Broken       Status = "broken"          // it was refused, or something is missing here
	Inconclusive Status = "inconclusive"    // nobody can tell
	NotRun       Status = "not run"         // the time was up, or it was given up
	Missed       Status = "missed"          // an expectation or a threshold is not met
	Passed       Status = "unexpected pass" // it should have failed
	Known        Status = "as the baseline" // not as expected, but as it was before
	Expected     Status = "as expected"     //
	Skipped      Status = "skipped"         // it cannot work here
)

// UnmarshalText reads a status, also under the name that it had before.
func (s *Status) UnmarshalText(b []byte) error {
	if *s = Status(b); *s == "passed" {
		*s = Passed
	}
	return nil
}

// ExitMissed says that an expectation or a threshold was missed.
const ExitMissed = 5

// Code is the exit code that a status stands for.
func (s Status) Code() int {
	return map[Status]int{ // the others: harness.ExitPass
		Violation: harness.ExitViolation, Broken: harness.ExitEnvironment, Inconclusive: harness.ExitUnknown,
		NotRun: harness.ExitUnknown, Missed: ExitMissed, Passed: ExitMissed,
	}[s]
}

var order = []Status{Violation, Broken, Inconclusive, NotRun, Missed, Passed, Known, Expected, Skipped}

// worst is the one that hides the other.
func worst(a, b Status) Status {
	if slices.Index(order, b) < slices.Index(order, a) {
		return b
	}
	return a
}

// statusOf returns the status of a run. results are nil if it was not judged; then err says why.
func statusOf(e suite.Expectation, exit int, results *checker.Results, differs []suite.Difference, err error) Status {
	if results == nil {
		if err == nil && len(differs) == 0 {
			return Expected // refused, as it should be
		}
		if exit == harness.ExitUnknown { // of a search
			return Inconclusive
		}
		return Broken
	}
	if len(differs) == 0 {
		if results.Verdict == checker.Unknown && !slices.Contains(e.Exit, harness.ExitUnknown) {
			return Inconclusive
		}
		return Expected
	}
	got := Expected
	for _, d := range differs {
		got = worst(got, statusOfDifference(d, e))
	}
	if exit == harness.ExitPanic {
		got = worst(got, Broken)
	}
	if results.Verdict == checker.Unknown {
		got = worst(got, Inconclusive) // what is missing might have been seen
	}
	return got
}

func statusOfDifference(d suite.Difference, e suite.Expectation) Status {
	switch d.What {
	case suite.DiffExit:
		return cmp.Or(map[string]Status{"0": Passed, "1": Violation, "2": Inconclusive}[d.Got], Broken)
	case suite.DiffOutcome:
		if d.Got == string(suite.Safe) {
			return Passed
		}
		if e.Outcome == suite.Defect {
			return Missed // a violation, as was expected, but not that bad
		}
		return Violation
	case suite.DiffVerdict:
		return cmp.Or(map[checker.Verdict]Status{
			checker.Fail: Violation, checker.Unknown: Inconclusive,
			checker.Pass: Passed,
		}[checker.Verdict(d.Got)], Missed)
	case suite.DiffClass:
		if d.Got == string(checker.Defect) {
			return Violation
		}
		return Missed
	case suite.DiffResults:
		return Broken
	}
	return Missed // a rule, a figure
}

// byHost reports whether an inconclusive run is so because the host held it up: then it may be made
// again. A lock has no say in it.
func byHost(s Status, r *checker.Results) bool {
	if r == nil || s != Inconclusive {
		return false
	}
	for _, f := range r.Checks[checker.Assumptions].Findings {
		if f.CauseKind == checker.CauseRecord && f.Rule != checker.RuleDied && f.Rule != checker.RuleClockStep {
			return false // a record that nobody should have made: no host explains it
		}
	}
	for _, c := range r.Checks {
		if c.Required && c.Verdict == checker.Unknown && (c.Code == checker.CodeDoubtful || c.Code == checker.CodeTimeout) {
			return true
		}
	}
	return suite.Hindered(r)
}

// unstruck reports whether no fault of a run took effect, on a host that held it up: then even an expected outcome
// does not show what it should.
func unstruck(r *checker.Results) bool {
	return r != nil && suite.Hindered(r) && r.Stats["faults_effective"] == 0
}

// excused is the status of a run on a host that was busy: what should have shown, and did not, may have
// had no time to. A violation is one wherever it shows.
func excused(s Status, r *checker.Results) Status {
	if (s == Passed || s == Missed) && r != nil && suite.Busy(r.Stats, r.Duration) {
		return Inconclusive
	}
	return s
}
