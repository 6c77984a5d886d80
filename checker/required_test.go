package checker_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// A check that fails is a violation where it is required: without findings, and with such as
// are reported only where the run names it.
func TestRequiredFailures(t *testing.T) {
	reported := checker.Finding{Rule: "odd", Class: checker.NoClass}
	tests := []struct {
		name     string
		required []string
		gates    bool
		findings []checker.Finding
		want     checker.Verdict
	}{
		{"not required", nil, false, nil, checker.Pass},
		{"required, no findings", nil, true, nil, checker.Fail},
		{"required, reported only", nil, true, []checker.Finding{reported}, checker.Pass},
		{"named, no findings", []string{"own"}, false, nil, checker.Fail},
		{"named, reported only", []string{"own"}, false, []checker.Finding{reported}, checker.Fail},
		{"named beside the default", []string{"+own"}, false, []checker.Finding{reported}, checker.Fail},
		{"another one is named", []string{checker.Liveness}, true, nil, checker.Unknown},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			require := ""
			if len(tc.required) > 0 {
				require = " require=" + strings.Join(tc.required, ",")
			}
			in := checkertest.InputOf(t, "run ends=never"+require+"\n0ms - c1 info point\nend\n")
			checks := checks.Default()
			own := checker.Check{Name: "own", Doc: "fails", Run: func(*checker.Input) checker.Result {
				return checker.Result{Verdict: checker.Fail, Findings: tc.findings}
			}}
			if tc.gates {
				own.Gates = checker.Always
			}
			checks.Add(own)
			r := checker.Judge(in, checks)
			got := checker.Pass
			switch c := r.Checks["own"]; {
			case c.Required && c.Violates():
				got = checker.Fail
			case len(tc.required) > 0 && !c.Required:
				got = checker.Unknown // of another one
			}
			if got != tc.want || (got == checker.Fail) != (r.Verdict == checker.Fail) {
				t.Errorf("%s, run %s, want %s", got, r.Verdict, tc.want)
			}
		})
	}
}

// A name with a plus is required beside those that say so themselves.
func TestRequiredBesideTheDefault(t *testing.T) {
	for _, tc := range []struct {
		required []string
		name     string
		want     bool
	}{
		{nil, checker.Liveness, true},
		{nil, checker.LossNotice, false},
		{[]string{"+" + checker.LossNotice}, checker.Liveness, true},
		{[]string{"+" + checker.LossNotice}, checker.LossNotice, true},
		{[]string{checker.LossNotice}, checker.Liveness, false},
		{[]string{checker.LossNotice, "+" + checker.Coverage}, checker.Coverage, true},
		{[]string{checker.LossNotice, "+" + checker.Coverage}, checker.Liveness, false},
		{[]string{checker.LossNotice}, checker.Assumptions, true},
	} {
		in := checkertest.InputOf(t, "run ends=never\n0ms - c1 info point\nend\n")
		in.Run.Required = tc.required
		if got := checker.Judge(in, checks.Default()).Checks[tc.name].Required; got != tc.want {
			t.Errorf("--require %v: %s is required: %v", tc.required, tc.name, got)
		}
	}
}
