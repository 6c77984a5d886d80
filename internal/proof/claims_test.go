package proof_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// What is said of a claim about a small history: its story, which the judge tells as well, or why it is refused. Rewrite with
// -rewrite, and read the difference.
func TestClaimsOfHistories(t *testing.T) {
	datadriven.Walk(t, "testdata/claims", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			in := checkertest.InputOf(t, d.Input)
			c, rec := claimOf(t, d), in.Record
			var of []int64
			for i := range rec.Events {
				if e := &rec.Events[i]; slices.Contains(c.Grants, e.Grant()) {
					of = append(of, e.Index)
				}
			}
			record := proof.New(rec)
			p := record.Prove(proof.Claimed{Claim: c, Events: of})
			story, err := record.Verify(c, p)
			judged := checker.Judge(in, checks.Default()).Checks[c.Check]
			silent := judged.Verdict != checker.Pass && judged.Verdict != checker.Fail // it judged too little to say it
			said := slices.ContainsFunc(judged.Findings, func(f checker.Finding) bool { return reflect.DeepEqual(f.Claim(c.Check), c) })
			switch {
			case err == nil && !said && !silent:
				t.Errorf("%s: the judge does not say this", d.Pos)
				return d.Expected
			case err != nil && said && !errors.Is(err, proof.ErrJudge):
				t.Errorf("%s: the judge says this: %v", d.Pos, err)
				return d.Expected
			case err != nil:
				return "refused: " + err.Error() + "\n"
			case p.Record:
				return "the record\n" + strings.Join(story, "\n") + "\n"
			}
			return fmt.Sprintf("events %v\n%s\n", p.Events, strings.Join(story, "\n"))
		})
	})
}

// claimOf reads a line such as "overlap check=mutual-exclusion class=inherent reason=lease-over grants=(a,b) from=12ms to=20ms".
func claimOf(t *testing.T, d *datadriven.TestData) proof.Claim {
	t.Helper()
	c := proof.Claim{Rule: d.Cmd}
	for _, a := range d.CmdArgs {
		at, err := time.ParseDuration(a.Vals[0])
		switch a.Key {
		case "check":
			c.Check = a.Vals[0]
		case "class":
			c.Class = a.Vals[0]
		case "reason":
			c.Reason = a.Vals[0]
		case "grants":
			c.Grants = a.Vals
		case "from":
			c.From = int64(at)
		case "to":
			c.To = int64(at)
		}
		if err != nil && (a.Key == "from" || a.Key == "to") {
			t.Fatal(err)
		}
	}
	return c
}
