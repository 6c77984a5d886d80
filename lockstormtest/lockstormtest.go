// Package lockstormtest lets you test a lock, a fault or a workload in `go test`. A test gives a run as flags of the command
// line, and its expected outcome:
//
//	func TestMain(m *testing.M) { lockstormtest.Main(m, mylock.Catalogue()) }
//
//	func TestKilled(t *testing.T) {
//		t.Parallel()
//		lockstormtest.Safe(t, mylock.Catalogue(), "--backend my-lock --nemesis client-kill --time 4s")
//	}
//
// A run that ends otherwise fails the test with the story of the worst incident: who was granted what, which fault
// struck, the check, the rule, the class and the cause, where the run is kept, and the command that repeats it. A run
// that the host disturbed proves nothing about a lock: it is repeated, and if that does not help, the test fails as
// inconclusive.
//
//	line of flags -> harness.Resolve -> Trial -> Run -> suite.Expectation.Compare -> t.Fatal
//
// A run that passes leaves nothing behind, unless `go test -artifacts` asks for every run. Tests may make runs in
// parallel; each run has processes and a folder of its own.
package lockstormtest

import (
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Main is the whole TestMain of a package with such tests. A run starts the test binary again, once for each client;
// there Main does not return. cat must have everything that the tests name.
func Main(m *testing.M, cat *harness.Catalogue) {
	harness.WorkerMain(cat)
	m.Run() // the code that it returns is that of the process
}

// Safe makes a run that must pass: no violation, and no unknown verdict.
func Safe(t testing.TB, cat *harness.Catalogue, line string, opts ...Option) *harness.RunOutcome {
	t.Helper()
	return Run(t, cat, line, suite.Expectation{Exit: []int{harness.ExitPass}}, opts...)
}

// Violates makes a run that must end with a violation of the class, found by the check, and without findings of that
// check in another class. It shows that a bug would be found.
func Violates(t testing.TB, cat *harness.Catalogue, line, check string, class checker.Class, opts ...Option) *harness.RunOutcome {
	t.Helper()
	return Run(t, cat, line, suite.Expectation{
		Exit:     []int{harness.ExitViolation},
		Verdicts: map[string]checker.Verdict{check: checker.Fail},
		Classes:  map[string]checker.Class{check: class},
	}, opts...)
}

// Run makes the run of a line of flags, as in "--backend my-lock --nemesis client-pause --time 4s", and fails the
// test if the run is not as expected, or if want expects nothing. Without --seed it draws a seed, which a failure
// reports. It returns the outcome of the last run, whose folder is gone if it passed, or nil if the run was refused,
// as expected.
func Run(t testing.TB, cat *harness.Catalogue, line string, want suite.Expectation, opts ...Option) *harness.RunOutcome {
	t.Helper()
	cfg, err := harness.ParseLine(line)
	must(t, err)
	return Case(t, cat, suite.Case{Run: cfg, Expect: want}, opts...)
}

// Case makes the run of a case, as Run does.
func Case(t testing.TB, cat *harness.Catalogue, c suite.Case, opts ...Option) *harness.RunOutcome {
	t.Helper()
	if c.Search != nil || c.Trial != nil {
		t.Fatalf("lockstormtest: case %s is a search or a saved run: use the function Explore for a search, and Kept for a saved run",
			c.Name)
	}
	j := judgeOf(t, cat, c.Run, c.Expect, opts)
	must(t, j.valid())
	return j.all()
}

// Kept repeats a run that was kept, as shrink and explore make them, with the plan in its trial.json. path is the
// file, or the directory of the run. The seed is fixed: Seeds and FirstOf only say how often it is repeated.
func Kept(t testing.TB, cat *harness.Catalogue, path string, want suite.Expectation, opts ...Option) *harness.RunOutcome {
	t.Helper()
	if filepath.Base(path) == harness.TrialFile {
		path = filepath.Dir(path)
	}
	kept, err := harness.ReadTrial(cat, path, "")
	must(t, err)
	for _, d := range kept.Differs(t.Context()) {
		t.Logf("lockstormtest: note: %s", d)
	}
	j := judgeOf(t, cat, kept.Config, want, opts)
	j.kept = kept
	if j.exec != nil || j.failOn != "" {
		t.Fatalf("lockstormtest: do not use the options Exec and FailOnDefect with Kept: the saved run already defines the lock and " +
			"the findings that fail the run")
	}
	must(t, j.valid())
	kept.Config.Command = j.command()
	return j.all()
}

// Cases makes a subtest of each case; they run in parallel, as far as `go test -parallel` allows. Cases whose
// expectation no run could show fail before anything is started.
func Cases(t *testing.T, cat *harness.Catalogue, cases []suite.Case, opts ...Option) {
	t.Helper()
	must(t, suite.Validate(cat, cases...))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Helper()
			t.Parallel()
			if c.Text != "" {
				t.Log(c.Text)
			}
			Case(t, cat, c, opts...)
		})
	}
}
