package lockstormtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// outcome is a run that ended with a finding of a check.
func outcome(check string, f checker.Finding) *harness.RunOutcome {
	return &harness.RunOutcome{Results: &checker.Results{
		TTL: 1e9, Stats: checker.Figures{},
		Checks: map[string]checker.Result{
			checker.Assumptions: {Verdict: checker.Pass, Required: true},
			check:               {Verdict: checker.Fail, Required: true, Findings: []checker.Finding{f}},
		},
	}}
}

// The host excuses a lock that comes back late, and no other violation: what it explains of those the judge has set aside.
func TestExcuse(t *testing.T) {
	defect := checker.Finding{Class: checker.Defect, Gating: true}
	inherent := checker.Finding{Class: checker.Inherent, Gating: true}
	passes := suite.Expectation{Exit: []int{harness.ExitPass}}
	violates := suite.Expectation{
		Exit:     []int{harness.ExitViolation},
		Verdicts: map[string]checker.Verdict{checker.Ownership: checker.Pass},
	}
	for name, tc := range map[string]struct {
		check   string
		finding checker.Finding
		want    suite.Expectation
		stall   int64
		trouble error
		excuse  string
	}{
		"a quiet host":  {checker.MutualExclusion, inherent, passes, 0, nil, ""},
		"a short stall": {checker.MutualExclusion, inherent, passes, 2e8, nil, ""},
		"a long stall":  {checker.MutualExclusion, inherent, passes, 3e8, nil, ""},
		"a broken run": {
			checker.MutualExclusion, inherent, passes, 0, errors.New("no disk"),
			"the run did not finish: no disk",
		},
		"a defect":                      {checker.MutualExclusion, defect, passes, 3e8, nil, ""},
		"a defect that was expected":    {checker.MutualExclusion, defect, violates, 3e8, nil, ""},
		"a defect in a check that must": {checker.Ownership, defect, violates, 3e8, nil, ""},
		"a lock that comes back late":   {checker.Liveness, defect, passes, 3e8, nil, "longest stall of a process: 300ms"},
	} {
		out := outcome(tc.check, tc.finding)
		out.Results.Stats["unplanned_stall_max_ns"], out.Trouble = tc.stall, tc.trouble
		got := (&judge{want: tc.want}).excuse(out)
		if !strings.Contains(got, tc.excuse) || (tc.excuse == "" && got != "") {
			t.Errorf("%s: %q, want %q", name, got, tc.excuse)
		}
	}
	doubtful := outcome(checker.MutualExclusion, inherent)
	doubtful.Results.Checks[checker.Assumptions] = checker.Result{Verdict: checker.Unknown, Reason: "a line is missing"}
	if got := (&judge{want: passes}).excuse(doubtful); got != "the record of the run is not reliable: a line is missing" {
		t.Errorf("a record in doubt: %q", got)
	}
}
