package gate

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/suite"
)

// The line of a run quotes the mistake, then the fault that brought it out; without a fault, what the record does say; and
// nothing where it says nothing, or the finding says it itself. What is stored says the same once it is read again, as does what
// was stored without the mistake.
func TestAQuotedFindingHasItsLead(t *testing.T) {
	for want, f := range map[string]checker.Finding{
		"two held; cause: c1 released it; a pause": {Lead: "c1 released it", Cause: "a pause", CauseKind: checker.CauseFault},
		"two held; cause: c1 released it":          {Lead: "c1 released it", Cause: checker.NoCause.Text, CauseKind: checker.CauseNone},
		"two held; cause: a pause":                 {Cause: "a pause", CauseKind: checker.CauseFault},
		"two held, as c1 released it": {
			Lead: "c1 released it", Message: "two held, as c1 released it",
			CauseKind: checker.CauseNone,
		},
		"two held": {Cause: checker.NoCause.Text, CauseKind: checker.CauseNone},
	} {
		f.Rule, f.Class, f.Message, f.Gating = "overlap", checker.Defect, cmp.Or(f.Message, "two held"), true
		o := RunResult{Status: Violation, Differs: []suite.Difference{{What: suite.DiffOutcome, Want: "safe", Got: "defect"}}}
		o.summarize(&checker.Results{
			Verdict: checker.Fail, ExitCode: 1, Order: []string{checker.MutualExclusion},
			Checks: map[string]checker.Result{checker.MutualExclusion: {
				Verdict: checker.Fail, Required: true,
				Findings: []checker.Finding{f},
			}},
		}, suite.Expectation{Outcome: suite.Safe})
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var stored RunResult
		if err := json.Unmarshal(b, &stored); err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{o.Said(), stored.Said()} {
			if !strings.HasSuffix(said, "mutual-exclusion (defect): "+want) {
				t.Errorf("%q does not end with %q", said, want)
			}
		}
	}
	var old RunResult
	if err := json.Unmarshal(
		[]byte(
			`{"quoted":{"check":"ownership","rule":"r","class":"defect","message":"m","cause":"a pause","cause_kind":"fault","length_ns":1}}`), &old); err != nil {
		t.Fatal(err)
	}
	if got, want := old.Quoted.String(), "ownership (defect): m; cause: a pause"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
