package measured

import (
	"os"
	"path/filepath"
	"testing"
)

// A sign is the worst outcome, with how many of how many runs had it.
func TestSign(t *testing.T) {
	for want, rows := range map[string]Rows{
		"➖":     nil,
		"❔":     {{"unknown_runs": "2"}},
		"✅":     {{"safe_runs": "2"}, {"safe_runs": "3"}},
		"✅4/5":  {{"safe_runs": "4", "unknown_runs": "1"}},
		"⚠️1/3": {{"safe_runs": "2", "inherent_runs": "1"}},
		"⛔2/4":  {{"safe_runs": "1", "inherent_runs": "1", "blocks_runs": "2"}},
		"❌1/5":  {{"inherent_runs": "2", "blocks_runs": "2"}, {"defect_runs": "1"}},
		"❌1/1~": {{"defect_runs": "1", "expected": "any"}},
		"✅~":    {{"safe_runs": "1", "expected": "mostly"}},
		"⚠️5/5": {{"inherent_runs": "5", "expected": "inherent"}},
	} {
		if got := rows.Sign(); got != want {
			t.Errorf("%v: %s, want %s", rows, got, want)
		}
	}
}

// Not all runs as expected: how many of how many.
func TestAsExpected(t *testing.T) {
	all := Row{"as_expected_runs": "20", "runs": "20"}
	if got := (Rows{all, all}).AsExpected(); got != "✅" {
		t.Error(got)
	}
	if got := (Rows{all, {"as_expected_runs": "19", "runs": "20"}}).AsExpected(); got != "39/40" {
		t.Error(got)
	}
}

// A greatest number is as it was written; groups come in the order of the rows; times are for people.
func TestRows(t *testing.T) {
	rows := Rows{{"a": "x", "n": "9.0"}, {"a": "y", "n": ""}, {"a": "x", "n": "10.50"}}
	if got := rows.Max("n"); got != "10.50" {
		t.Error(got)
	}
	if g := rows.By("a"); len(g) != 2 || g[0].Key != "x" || len(g[0].Rows) != 2 {
		t.Errorf("%v", g)
	}
	if got := len(rows.Except("a", "y", "z")); got != 2 {
		t.Error(got)
	}
	for ms, want := range map[string]string{"": "", "0.8": "1 ms", "999": "999 ms", "1000": "1.0 s", "2450": "2.5 s"} {
		if got := Time(ms); got != want {
			t.Errorf("%s ms: %s, want %s", ms, got, want)
		}
	}
	for share, want := range map[string]string{"": "", "0": "0 %", "0.3434": "0.34 %", "13.72": "14 %"} {
		if got := Percent(share); got != want {
			t.Errorf("%s: %s, want %s", share, got, want)
		}
	}
}

// A file without columns, or with a row that is too short, is no table.
func TestReadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	for _, text := range []string{"", "# command: make x\n", "a,b\n1\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if table, err := Read(path); err == nil {
			t.Errorf("%q: %v", text, table)
		}
	}
}
