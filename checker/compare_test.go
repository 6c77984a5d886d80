package checker

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Two runs are compared by verdicts and by the rules that decide, whatever their order and number; what is
// beside the point is left out on both sides only.
func TestCompare(t *testing.T) {
	failed := func(rules ...string) Result {
		r := Result{Verdict: Fail, Required: true}
		for _, rule := range rules {
			r.Findings = append(r.Findings, Finding{Rule: rule, Gating: true})
		}
		return r
	}
	pass, noted := Result{Verdict: Pass, Required: true}, failed("a")
	noted.Findings = append(noted.Findings, Finding{Rule: "note"})
	quiet, elsewhere := Result{Verdict: Pass, Quiet: true}, Result{Verdict: Skipped, Code: CodeElsewhere}
	quietRequired := Result{Verdict: Pass, Quiet: true, Required: true}
	quietNote := Result{Verdict: Pass, Quiet: true, Findings: []Finding{{Rule: "note"}}}
	for _, c := range []struct {
		name          string
		before, after Result
		want          []string
	}{
		{"the same", pass, pass, nil},
		{"verdicts", pass, failed("a"), []string{"the verdict of the check x was pass and is now fail"}},
		{"order and number of rules", failed("a", "b", "a"), failed("b", "a"), nil},
		{"rules", failed("a"), failed("b", "a"), []string{"the violated rules of the check x were a and are now a, b"}},
		{"a note decides nothing", failed("a"), noted, nil},
		{"both beside the point", quiet, elsewhere, nil},
		{"one beside the point", elsewhere, pass, []string{"the verdict of the check x was skipped and is now pass"}},
		{"required is never beside it", quietRequired, elsewhere, []string{"the verdict of the check x was pass and is now skipped"}},
		{"nor is what found something", quietNote, elsewhere, []string{"the verdict of the check x was pass and is now skipped"}},
	} {
		before := &Results{Verdict: Pass, Checks: map[string]Result{"x": c.before}, Order: []string{"x"}}
		after := &Results{Verdict: Pass, Checks: map[string]Result{"x": c.after}, Order: []string{"x"}}
		if got := Compare(before, after); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	before := &Results{Verdict: Pass, Checks: map[string]Result{"x": pass}, Order: []string{"x"}}
	after := &Results{Verdict: Fail, Checks: map[string]Result{"y": failed("a")}, Order: []string{"y"}}
	want := []string{"the verdict of the run was pass and is now fail", "the check y is in the new results, but not in the " +
		"earlier results", "the check x is in the earlier results, but not in the new results"}
	if got := Compare(before, after); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Results of this schema are read, those of a later one refused, and so is what is none.
func TestReadResults(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.json")
	if _, err := ReadResults(name); err == nil {
		t.Error("a file that is not there was read")
	}
	want := &Results{Schema: ResultsSchema, Verdict: Fail, Seed: 7}
	if err := want.WriteFile(name); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadResults(name); err != nil || got.Verdict != Fail || got.Seed != 7 {
		t.Errorf("read back %+v, %v", got, err)
	}
	for _, text := range []string{`{"schema":2}`, `{"schema":`} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadResults(name); err == nil {
			t.Errorf("%s was read as %+v", text, got)
		}
	}
}
