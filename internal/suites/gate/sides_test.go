package gate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/suite"
)

// Two suites side by side: what differs significantly stands open, the rest is folded, and nothing is left out.
func TestSides(t *testing.T) {
	many := func(o RunResult, p99 int64) (out []RunResult) {
		for i := range 12 {
			o.Stats = checker.Figures{"grants": 100, "violations": 0, "acquire_p99_ns": p99 + int64(i)*1000}
			out = append(out, o)
		}
		return out
	}
	before, after := cellOf(t, "", many(passing(), 1e6)...), cellOf(t, "", many(failing(checker.Ownership, checker.Defect), 9e6)...)
	s := Compare(before, after).sides(after.Name)
	if s.Before == s.After {
		t.Errorf("both are called %s", s.Before)
	}
	rows := map[string]matrix.Side{}
	for _, r := range s.Rows {
		rows[r.Figure] = r
	}
	if len(s.Differ())+len(s.Alike()) != len(s.Rows) || len(rows) != len(s.Rows) {
		t.Errorf("%d and %d of %d rows", len(s.Differ()), len(s.Alike()), len(s.Rows))
	}
	if v := rows["verdict"]; !v.Differs || v.Before.Text != string(suite.Safe) || v.After.Text != string(suite.Defect) {
		t.Errorf("verdict: %+v", v)
	}
	slower := rows["acquire.p99"]
	if !slower.Differs || !strings.HasPrefix(slower.Note, "worse (p = ") || slower.Ratio == "" ||
		slower.Before.Text == slower.After.Text {
		t.Errorf("acquire.p99: %+v", slower)
	}
	after.Baseline = Compare(before, after)
	var b bytes.Buffer
	if err := matrix.HTML(&b, after.Table(t.TempDir(), t.TempDir())); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Side by side", s.Before, s.After, slower.Before.Text, slower.After.Text,
		"without a significant difference",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

// How often an outcome showed again is counted by the checks that failed.
func TestRateOf(t *testing.T) {
	runs := []RunResult{
		failing(checker.Ownership, checker.Defect), failing(checker.Ownership, checker.Inherent),
		failing(checker.Liveness, checker.Defect), passing(),
	}
	for i, want := range []string{
		"failed in 2 of the 4 runs", "failed in 2 of the 4 runs", "failed in 1 of the 4 runs",
		"1 of the 4 runs",
	} {
		if got := rateOf(runs, i); !strings.Contains(got, want) {
			t.Errorf("run %d: %q, want %q", i, got, want)
		}
	}
	if got := rateOf(runs[:1], 0); got != "" {
		t.Errorf("a single run: %q", got)
	}
}
