package checker_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// The results of every fixture are the same after JSON, proofs and figures included.
func TestResultsRoundTrip(t *testing.T) {
	findings, proofs := 0, 0
	eachFixture(t, func(t *testing.T, d *datadriven.TestData) string {
		want := checker.Judge(checkertest.InputOf(t, d.Input), checks.Default())
		raw, err := json.MarshalIndent(want, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var got checker.Results
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*want, got) {
			t.Errorf("%s: read back:\n%+v\nwant\n%+v", d.Pos, got, *want)
		}
		for _, c := range want.Checks {
			findings += len(c.Findings)
			proofs += min(len(c.Proof), 1)
		}
		return d.Expected
	})
	if findings == 0 || proofs == 0 {
		t.Errorf("%d findings and %d proofs: nothing was compared", findings, proofs)
	}
}

// Whatever is unknown or skipped says why in a code, and whatever has a cause says of
// which kind.
func TestCodesAndKinds(t *testing.T) {
	codes := map[checker.Code]bool{}
	eachFixture(t, func(t *testing.T, d *datadriven.TestData) string {
		for name, c := range checker.Judge(checkertest.InputOf(t, d.Input), checks.Default()).Checks {
			if (c.Verdict == checker.Unknown || c.Verdict == checker.Skipped) == (c.Code == "") {
				t.Errorf("%s: %s is %s with the code %q: %s", d.Pos, name, c.Verdict, c.Code, c.Reason)
			}
			codes[c.Code] = true
			for _, f := range c.Findings {
				if f.CauseKind == "" || (f.CauseKind == checker.CauseFault) != (f.Fault > 0) && f.CauseKind != checker.CauseRelease {
					t.Errorf("%s: %s: cause %q of kind %q, fault %d", d.Pos, f.Rule, f.Cause, f.CauseKind, f.Fault)
				}
			}
		}
		return d.Expected
	})
	for _, code := range []checker.Code{
		checker.CodeNoTokens, checker.CodeUnsound, checker.CodeNoEnd, checker.CodeNotHit,
		checker.CodeNoFinal, checker.CodeDoubtful,
	} {
		if !codes[code] {
			t.Errorf("no fixture has the code %s", code)
		}
	}
}

// A check of another module says itself whether it applies and gates; its figures join the
// others.
func TestOwnCheck(t *testing.T) {
	own := checker.Check{
		Name: "own", Doc: "a check of somebody else", Gates: checker.Always,
		Applies: func(in *checker.Input) (checker.Code, string) {
			if len(in.Grants) == 0 {
				return "no-grants", "there is nothing to count"
			}
			return "", ""
		},
		Run: func(in *checker.Input) checker.Result {
			r := checker.Conclude("count", []checker.Finding{{
				Rule: "too-many", Class: checker.NoClass, Gating: true,
				Message: fmt.Sprint(len(in.Grants)), Events: []int64{},
			}}, 1)
			r.Figures = checker.Figures{"own_grants": int64(len(in.Grants))}
			r.Proof = checker.NewProof(in.Hold(in.Grants[0]))
			return r
		},
	}
	checks := checks.Default()
	checks.Add(own)
	const grant = "0ms 1 c1 invoke acquire lock=L grant=a\n1ms 1 c1 ok acquire lock=L grant=a\n2ms 1 c1 invoke release lock=L " +
		"grant=a\n3ms 1 c1 ok release lock=L grant=a\nend\n"
	r := checker.Judge(checkertest.InputOf(t, "run\n"+grant), checks)
	if c := r.Checks["own"]; c.Verdict != checker.Fail || !c.Required || r.Verdict != checker.Fail || r.Stats["own_grants"] != 1 {
		t.Errorf("%s, required %v, figure %d: the run is %s", c.Verdict, c.Required, r.Stats["own_grants"], r.Verdict)
	}
	var hold history.Interval
	if err := r.Checks["own"].ProofInto(&hold); err != nil || hold.Empty() {
		t.Errorf("%v, %v", hold, err)
	}
	if c := checker.Judge(checkertest.InputOf(t, "run\nend\n"), checks).Checks["own"]; c.Verdict != checker.Skipped ||
		c.Code != "no-grants" {
		t.Errorf("%s, code %q", c.Verdict, c.Code)
	}
}
