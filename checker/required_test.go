package checker

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// A check that fails is a violation where it is required: without findings, and with such as
// are reported only where the run names it.
func TestRequiredFailures(t *testing.T) {
	reported := Finding{Rule: "odd", Class: NoClass}
	tests := []struct {
		name     string
		required []string
		gates    bool
		findings []Finding
		want     Verdict
	}{
		{"not required", nil, false, nil, Pass},
		{"required, no findings", nil, true, nil, Fail},
		{"required, reported only", nil, true, []Finding{reported}, Pass},
		{"named, no findings", []string{"own"}, false, nil, Fail},
		{"named, reported only", []string{"own"}, false, []Finding{reported}, Fail},
		{"named beside the default", []string{"+own"}, false, []Finding{reported}, Fail},
		{"another one is named", []string{Liveness}, true, nil, Unknown},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			require := ""
			if len(tc.required) > 0 {
				require = " require=" + strings.Join(tc.required, ",")
			}
			in := inputOf(t, "run ends=never"+require+"\n0ms - c1 info point\nend\n")
			checks := Default()
			own := Check{Name: "own", Doc: "fails", Run: func(*Input) Result { return Result{Verdict: Fail, Findings: tc.findings} }}
			if tc.gates {
				own.Gates = Always
			}
			checks.Add(own)
			r := Judge(in, checks)
			got := Pass
			switch c := r.Checks["own"]; {
			case c.Required && c.Violates():
				got = Fail
			case len(tc.required) > 0 && !c.Required:
				got = Unknown // of another one
			}
			if got != tc.want || (got == Fail) != (r.Verdict == Fail) {
				t.Errorf("%s, run %s, want %s", got, r.Verdict, tc.want)
			}
		})
	}
}

// A name with a plus is required beside those that say so themselves.
func TestRequiredBesideTheDefault(t *testing.T) {
	check := func(name string) Check {
		c, err := Default().Get(name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, tc := range []struct {
		required []string
		name     string
		want     bool
	}{
		{nil, Liveness, true},
		{nil, LossNotice, false},
		{[]string{"+" + LossNotice}, Liveness, true},
		{[]string{"+" + LossNotice}, LossNotice, true},
		{[]string{LossNotice}, Liveness, false},
		{[]string{LossNotice, "+" + Coverage}, Coverage, true},
		{[]string{LossNotice, "+" + Coverage}, Liveness, false},
		{[]string{LossNotice}, Assumptions, true},
	} {
		if got := requires(history.Run{Required: tc.required}, check(tc.name)); got != tc.want {
			t.Errorf("--require %v: %s is required: %v", tc.required, tc.name, got)
		}
	}
}
