package proof_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// unproven are findings of the fixtures that no few events prove although their rule mostly has such a proof, by what is said of
// it.
var unproven = []string{
	"by the rules of this lock",                                 // the record is suspect: the judge says so, too
	"is later than the first grant",                             // ... a release of a grant that is not known to be the earlier one
	"do not show that the request for this grant",               // ... a write under a grant that nobody had
	"the events do not show the request for this grant",         // ...
	"wrote although the store had already answered the release", // ... of a client that is wrong
	"never believed at the same",                                // ... of grants that did not meet
	"could have given these answers",                            // a counted lock whose owner is not known to have had one more
}

// Every finding of every known history has a proof, which holds; and what the judge found nothing in has none.
func TestProofsOfFixtures(t *testing.T) {
	found, few, judge := 0, 0, 0
	datadriven.Walk(t, "../../checker/testdata/histories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			in := checkertest.InputOf(t, d.Input)
			record := proof.New(in.Record)
			judged := checker.Judge(in, checks.Default()).Checks
			if judged[checker.Assumptions].Verdict == checker.Unknown {
				return d.Expected // nothing can be proven by a record that is unsound
			}
			for name, c := range judged {
				for i := range c.Findings {
					f := &c.Findings[i]
					if name == checker.Coverage || (name == checker.Assumptions && f.CauseKind == checker.CauseRecord) {
						continue
					}
					found++
					p := record.Prove(proof.Claimed{Claim: f.Claim(name), Events: f.Events})
					if !p.Record {
						few++
					} else if p.Why != "" && !containsAny(p.Why, unproven) {
						t.Errorf("%s: %s: %s: no proof: %s\n%s", d.Pos, name, f.Message, p.Why, d.Input)
					}
					if _, err := record.Verify(f.Claim(name), p); errors.Is(err, proof.ErrJudge) {
						judge++
					} else if err != nil {
						t.Errorf("%s: %s: %s: its proof does not hold: %v %v\n%s", d.Pos, name, f.Message, err, p, d.Input)
					}
				}
			}
			return d.Expected
		})
	})
	t.Logf("%d findings: %d proven by a few events, %d need the judge", found, few, judge)
	if found < 300 || few < found/2 {
		t.Errorf("%d findings, %d of them proven by a few events: the fixtures are not what they were", found, few)
	}
}

func containsAny(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
