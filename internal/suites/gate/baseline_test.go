package gate

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// cellOf is a suite of one cell whose runs deviate so, each with a status of its own; thresholds are over all.
func cellOf(t *testing.T, thresholds string, runs ...RunResult) *SuiteResults {
	t.Helper()
	s := fake(map[string][]Status{"a": make([]Status, len(runs))})
	for i := range runs {
		runs[i].Cell, runs[i].Seed = "a", uint64(i+1)
		if runs[i].Stats == nil {
			runs[i].Stats = checker.Figures{"grants": 100, "violations": 0}
		}
	}
	s.Outcomes = runs
	for _, text := range strings.Split(thresholds, ";") {
		if parsed, err := tally.ParseThreshold(text); err == nil {
			s.Cells[0].Thresholds = append(s.Cells[0].Thresholds, parsed)
		}
	}
	return judged(t, s)
}

// failing is a run that deviates by certain findings of a check.
func failing(check string, class checker.Class) RunResult {
	return RunResult{
		Status: Violation, Exit: 1, Outcome: suite.Deviation{Check: check, Class: class}.Outcome(),
		Deviates: []suite.Deviation{{Check: check, Class: class}},
		Checks:   map[string]CheckSummary{check: {Verdict: checker.Fail, Required: true, Certain: []checker.Class{class}}},
	}
}

// passing is a run that is as expected.
func passing() RunResult { return RunResult{Status: Expected, Outcome: suite.Safe} }

// slow is a run with a latency.
func slow(o RunResult) RunResult {
	o.Stats = checker.Figures{"grants": 100, "violations": 0, "acquire_p99_ns": 1e9}
	return o
}

// violating is a run with violations that no check gates on.
func violating(o RunResult) RunResult {
	o.Stats = checker.Figures{"grants": 100, "violations": 7, "acquire_p99_ns": 1e9}
	return o
}

// missed is a run of a lock that should be a defect and is inherent only.
func missed() RunResult {
	return RunResult{
		Status: Missed, Exit: 1, Outcome: suite.Inherent,
		Deviates: []suite.Deviation{{Check: checker.MutualExclusion, Class: checker.Inherent}},
	}
}

// What a baseline knows is the check, the class and the threshold that were not as expected: nothing else is
// known by it, however bad the cell was.
func TestABaselineKnowsOnlyWhatItKnows(t *testing.T) {
	const latency, none = "acquire.p99 < 1ms", "violations == 0"
	for name, c := range map[string]struct {
		before, after *SuiteResults
		want          int
		told          string
	}{
		"the same latency": {cellOf(t, latency, slow(passing())), cellOf(t, latency, slow(passing())), 0, ""},
		"a latency, and now violations": {
			cellOf(t, latency+";"+none, slow(passing())),
			cellOf(t, latency+";"+none, violating(passing())), 5, "not in the baseline: violations == 0",
		},
		"a defect, and now another check": {
			cellOf(t, "", missed(), missed(), missed()),
			cellOf(t, "", missed(), failing(checker.Ownership, checker.Defect), failing(checker.Ownership, checker.Defect)), 1,
			"not in the baseline: ownership (defect)",
		},
		"the same check, a worse class": {
			cellOf(t, "", failing(checker.MutualExclusion, checker.Inherent)),
			cellOf(t, "", failing(checker.MutualExclusion, checker.Defect)), 1, "not in the baseline: mutual-exclusion (defect)",
		},
		"the same check and class": {
			cellOf(t, "", failing(checker.Ownership, checker.Defect)),
			cellOf(t, "", failing(checker.Ownership, checker.Defect)), 0, "",
		},
		"one of two is left": {cellOf(t, "", failing(checker.Ownership, checker.Defect),
			failing(checker.Liveness, checker.NoClass)), cellOf(t, "", failing(checker.Ownership, checker.Defect), passing()), 0, ""},
		"known, and one seed open": {
			cellOf(t, "", failing(checker.Ownership, checker.Defect), passing()),
			cellOf(t, "", failing(checker.Ownership, checker.Defect), RunResult{Status: Inconclusive}), 2, "seed 2",
		},
		"violations that are gone": {
			cellOf(t, none, violating(passing())), cellOf(t, none, passing()), 5,
			"the threshold violations == 0 was not met before, but is met now",
		},
		"a latency that is gone": {
			cellOf(t, latency, slow(passing())), cellOf(t, latency, passing()), 2,
			"acquire.p99 was not measured",
		},
		"known, and a latency besides": {
			cellOf(t, latency, failing(checker.Ownership, checker.Defect)),
			cellOf(t, latency, slow(failing(checker.Ownership, checker.Defect))), 5, "not in the baseline: acquire.p99 < 1ms",
		},
	} {
		c.after.Measure(c.before.Slim())
		j := c.after.Cells[0]
		if c.after.ExitCode != c.want || !strings.Contains(strings.Join(j.Why, "\n"), c.told) {
			t.Errorf("%s: exit %d, want %d: %s: %q", name, c.after.ExitCode, c.want, j.Status, j.Why)
		}
	}
}

// A baseline that was written before baselines said what they know still knows its checks and thresholds.
func TestAnOldBaseline(t *testing.T) {
	old := func(r *SuiteResults) *SuiteResults {
		r.Cells[0].Deviates, r.Cells[0].FailedAs, r.Deviations = nil, nil, false
		return r.Slim()
	}
	for name, c := range map[string]struct {
		before, after *SuiteResults
		want          int
	}{
		"the same check": {
			old(cellOf(t, "", failing(checker.Ownership, checker.Defect))),
			cellOf(t, "", failing(checker.Ownership, checker.Defect)), 0,
		},
		"another check": {
			old(cellOf(t, "", failing(checker.Ownership, checker.Defect))),
			cellOf(t, "", failing(checker.MutualExclusion, checker.Defect)), 1,
		},
		"the same, but worse": {
			old(cellOf(t, "", failing(checker.MutualExclusion, checker.Inherent))),
			cellOf(t, "", failing(checker.MutualExclusion, checker.Defect)), 1,
		},
		"the same threshold": {
			old(cellOf(t, "violations == 0", violating(passing()))),
			cellOf(t, "violations == 0", violating(passing())), 0,
		},
	} {
		c.after.Measure(c.before)
		if c.after.ExitCode != c.want {
			t.Errorf("%s: exit %d, want %d: %v", name, c.after.ExitCode, c.want, c.after.Cells[0].Why)
		}
	}
}

// Of several seeds the one with the root cause is told first, and the reason that made the status before others.
func TestTheFirstReason(t *testing.T) {
	overlap, release := failing(checker.MutualExclusion, checker.Defect), failing(checker.Ownership, checker.Defect)
	overlap.Quoted = &Quoted{Check: checker.MutualExclusion, Rule: "overlap", Class: checker.Defect, Lost: 9, Length: 9}
	release.Quoted = &Quoted{Check: checker.Ownership, Rule: "foreign-release", Class: checker.Defect}
	j := cellOf(t, "", RunResult{Status: Inconclusive}, overlap, release).Cells[0]
	if j.Status != Violation || !strings.HasPrefix(j.Why[0], "seed 3:") || !strings.HasPrefix(j.Why[2], "seed 1:") {
		t.Errorf("%s: %q", j.Status, j.Why)
	}
}

// A defect that one of three seeds shows is a new violation, where no run had it before, though the word is
// the same; what is inherent to leases depends on the moment.
func TestCompareSeesNewDefects(t *testing.T) {
	before := cellOf(t, "", failing(checker.Ownership, checker.Defect), failing(checker.Ownership, checker.Defect),
		failing(checker.Ownership, checker.Defect))
	for check, class := range map[string]checker.Class{
		checker.LockLinearizability: checker.Defect,
		checker.DataPlain:           checker.Inherent,
	} {
		after := cellOf(t, "", failing(checker.Ownership, checker.Defect), failing(check, class),
			failing(checker.Ownership, checker.Defect))
		a := Compare(before, after)
		if isNew := len(a.New) == 1 && a.Code() == 1; isNew != (class == checker.Defect) {
			t.Errorf("%s (%s): %v", check, class, a.Lines())
		}
	}
}

// A time that is missed on a busy host says nothing of the lock; a count says the same on any host.
func TestThresholdsOnABusyHost(t *testing.T) {
	for _, c := range []struct {
		threshold string
		busy      int64
		want      Status
	}{
		{"acquire.p99 < 1ms", 0, Missed},
		{"acquire.p99 < 1ms", 9e9, Inconclusive},
		{"violations == 0", 9e9, Missed},
		{"acquire.p99 < 2s", 9e9, Expected},
	} {
		run := violating(passing())
		run.Length, run.Stats["host_busy_ns"] = 10e9, c.busy
		if j := cellOf(t, c.threshold, run).Cells[0]; j.Status != c.want {
			t.Errorf("%+v: %s: %v", c, j.Status, j.Why)
		}
	}
}

// A baseline of a cell that was only slower, as expected otherwise, knows none of its expected failures as a deviation.
func TestABaselineOfFiguresKnowsNoCheck(t *testing.T) {
	before := cellOf(t, "", failing(checker.Ownership, checker.Defect)).Slim()
	before.Cells[0].Status, before.Cells[0].Deviates = Missed, nil
	after := cellOf(t, "", failing(checker.Ownership, checker.Inherent))
	if after.Measure(before); after.ExitCode != 1 {
		t.Errorf("exit %d: %v", after.ExitCode, after.Cells[0].Why)
	}
}

// Runs that a baseline knows do not count as failures that end a suite early.
func TestKnows(t *testing.T) {
	before := cellOf(t, "", failing(checker.Ownership, checker.Defect))
	same, other, none := failing(checker.Ownership, checker.Defect), failing(checker.MutualExclusion, checker.Defect), passing()
	same.Cell, other.Cell, none.Cell = "a", "a", "a"
	elsewhere := same
	elsewhere.Cell = "b"
	if !before.Knows(&same) || before.Knows(&other) || before.Knows(&none) || before.Knows(&elsewhere) {
		t.Error("it knows too much, or too little")
	}
}

// The command beside a cell is that of the run that is told first, and of no run where the cell as a whole is told.
func TestTheCommandBesideACell(t *testing.T) {
	bad, good := failing(checker.Ownership, checker.Defect), RunResult{Status: Passed, Outcome: suite.Safe}
	bad.Command, good.Command = "bad", "good"
	if j := cellOf(t, "", passing(), bad).Cells[0]; j.Line() != "bad" {
		t.Errorf("%q", j.Line())
	}
	for _, threshold := range []string{"", "violations == 0"} {
		if j := cellOf(t, threshold, violating(passing()), good).Cells[0]; j.Line() != j.Command {
			t.Errorf("%s: %q", threshold, j.Line())
		}
	}
}
