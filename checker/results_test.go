package checker

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/history"
)

// The results of every fixture are the same after JSON, proofs and figures included.
func TestResultsRoundTrip(t *testing.T) {
	findings, proofs := 0, 0
	eachFixture(t, func(t *testing.T, d *datadriven.TestData) string {
		want := Judge(inputOf(t, d.Input), Default())
		raw, err := json.MarshalIndent(want, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var got Results
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
	codes := map[Code]bool{}
	eachFixture(t, func(t *testing.T, d *datadriven.TestData) string {
		for name, c := range Judge(inputOf(t, d.Input), Default()).Checks {
			if (c.Verdict == Unknown || c.Verdict == Skipped) == (c.Code == "") {
				t.Errorf("%s: %s is %s with the code %q: %s", d.Pos, name, c.Verdict, c.Code, c.Reason)
			}
			codes[c.Code] = true
			for _, f := range c.Findings {
				if f.CauseKind == "" || (f.CauseKind == CauseFault) != (f.Fault > 0) && f.CauseKind != CauseRelease {
					t.Errorf("%s: %s: cause %q of kind %q, fault %d", d.Pos, f.Rule, f.Cause, f.CauseKind, f.Fault)
				}
			}
		}
		return d.Expected
	})
	for _, code := range []Code{CodeNoTokens, CodeUnsound, CodeNoEnd, CodeNotHit, CodeNoFinal, CodeDoubtful} {
		if !codes[code] {
			t.Errorf("no fixture has the code %s", code)
		}
	}
}

// A check of another module says itself whether it applies and gates; its figures join the
// others.
func TestOwnCheck(t *testing.T) {
	own := Check{
		Name: "own", Doc: "a check of somebody else", Gates: Always,
		Applies: func(in *Input) (Code, string) {
			if len(in.Grants) == 0 {
				return "no-grants", "there is nothing to count"
			}
			return "", ""
		},
		Run: func(in *Input) Result {
			r := Conclude("count", []Finding{{Rule: "too-many", Class: NoClass, Gating: true, Message: fmt.Sprint(len(in.Grants)), Events: []int64{}}}, 1)
			r.Figures = Figures{"own_grants": int64(len(in.Grants))}
			r.Proof = NewProof(in.Hold(in.Grants[0]))
			return r
		},
	}
	checks := Default()
	checks.Add(own)
	const grant = "0ms 1 c1 invoke acquire lock=L grant=a\n1ms 1 c1 ok acquire lock=L grant=a\n2ms 1 c1 invoke release lock=L grant=a\n3ms 1 c1 ok release lock=L grant=a\nend\n"
	r := Judge(inputOf(t, "run\n"+grant), checks)
	if c := r.Checks["own"]; c.Verdict != Fail || !c.Required || r.Verdict != Fail || r.Stats["own_grants"] != 1 {
		t.Errorf("%s, required %v, figure %d: the run is %s", c.Verdict, c.Required, r.Stats["own_grants"], r.Verdict)
	}
	var hold history.Interval
	if err := r.Checks["own"].ProofInto(&hold); err != nil || hold.Empty() {
		t.Errorf("%v, %v", hold, err)
	}
	if c := Judge(inputOf(t, "run\nend\n"), checks).Checks["own"]; c.Verdict != Skipped || c.Code != "no-grants" {
		t.Errorf("%s, code %q", c.Verdict, c.Code)
	}
}
