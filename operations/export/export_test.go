package export_test

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checkertest"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/operations"
	"github.com/lockstorm/lockstorm/operations/export"
	"github.com/lockstorm/lockstorm/operations/models"
)

// What both can say is the same: a record of ours in which no two clients held the lock at once, and whose answers are
// those of a lock, is a linearizable history; one in which two did is none.
func TestExportKeepsTheVerdict(t *testing.T) {
	counts := map[string]int{}
	datadriven.Walk(t, "../../checker/testdata/histories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			in := checkertest.InputOf(t, d.Input)
			r := checker.Judge(in, checks.Default())
			x, err := export.Of(in.Record)
			if err != nil || r.Checks[checker.Assumptions].Verdict != checker.Pass {
				return d.Expected
			}
			var file bytes.Buffer
			if err := operations.WriteJepsen(&file, x.Steps, x.Keyed); err != nil {
				t.Fatal(err)
			}
			if len(x.Steps) == 0 {
				return d.Expected
			}
			h, err := operations.Read(&file, operations.Options{Keyed: x.Keyed})
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			m, err := models.Parse(x.Model)
			if err != nil {
				t.Fatal(err)
			}
			judged, err := models.Judge(t.Context(), m, h)
			if err != nil {
				t.Fatal(err)
			}
			got := models.Worst(judged)
			ours, object := r.Checks[checker.MutualExclusion], r.Checks[checker.LockLinearizability]
			counts[string(ours.Verdict)+" "+string(got)]++
			switch {
			case ours.Verdict == checker.Fail && got != models.Failed:
				t.Errorf("%s: mutual-exclusion fails, but the exported history is %s", d.Pos, got)
			case ours.Verdict == checker.Pass && object.Verdict == checker.Pass && got != models.Pass:
				t.Errorf("%s: mutual-exclusion and lock-linearizability pass, but the exported history is %s", d.Pos, got)
			}
			return d.Expected
		})
	})
	if counts["pass pass"] < 50 || counts["fail fail"] < 20 {
		t.Errorf("compared: %v", counts)
	}
}
