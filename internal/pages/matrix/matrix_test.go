package matrix

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// large is a suite of so many cells, with words that must be escaped.
func large(cells int) *gate.SuiteResults {
	r := &gate.SuiteResults{
		Name: "all & <b>", Program: "mylocks", Doc: "every lock", Verdict: "not as expected", ExitCode: 1,
		Controls: []string{"a control misbehaves"},
		Baseline: &gate.Against{Before: "before", New: []string{"x"}, Said: [][3]string{{"backend-0/fault-1", "safe", "inherent"}}},
		Answer: &answer.Ranking{RankedBy: "Ranked by <x>.", Groups: 3, Locks: []answer.Lock{
			{
				Group: 1, Name: "backend-1", Sentence: "backend-1 survived <all> | of it.", Rate: &tally.Value{Value: 0, High: 5},
				Survived: []string{"flap"},
			},
			{Group: 2, Name: "backend-2", Sentence: "backend-2 did not.", Rate: &tally.Value{Value: 50, Low: 50, High: 50}},
			{Name: "backend-3", Sentence: "backend-3 was not measured."},
		}},
	}
	words := []suite.Outcome{suite.Safe, suite.Inherent, suite.Defect, suite.Blocks, ""}
	statuses := []gate.Status{gate.Expected, gate.Violation, gate.Missed, gate.Broken}
	for i := range cells {
		c := gate.CellResult{
			Name: fmt.Sprintf("backend-%d/fault-%d", i/20, i%20), Text: "a <script>alert(1)</script> | pipe",
			Row: fmt.Sprintf("backend-%d", i/20), Column: fmt.Sprintf("fault-%d", i%20), Status: statuses[i%4], Outcome: words[i%5],
			Why: []string{"seed 1: it failed\nbadly"}, AsIt: 2, Of: 3, Command: "--backend redis-lua --nemesis 'x'",
			Figures: map[string]tally.Value{"violations.rate": {Value: 3, Low: 3, High: 3}},
		}
		if c.Column == "fault-0" {
			c.Column, c.Outcome = "none", suite.Safe
		}
		for n, name := range []string{"exposures", "overlap", "recovery.median", "acquire.p50", "acquire.p99"} {
			v := float64(i*n) * 1e6
			c.Figures[name] = tally.Value{Value: v, Low: v / 2, High: 2 * v}
		}
		for seed := range uint64(3) {
			c.Runs = append(c.Runs, gate.RunResult{
				Seed: seed + 1, Status: c.Status, Took: 1500 * time.Millisecond, Error: "it <failed> \x00", Stats: checker.Figures{},
				Dir: gate.RunDir(c.Name, seed+1, 0),
			})
		}
		r.Cells = append(r.Cells, c)
	}
	r.Cells = append(r.Cells, gate.CellResult{
		Name: "control", Row: "none", Column: "none", Control: true, Status: gate.Skipped, Why: []string{"no server"},
		Command: "--backend none",
	})
	return r
}

// shownIn are results whose runs are in a directory.
func shownIn(t *testing.T, r *gate.SuiteResults) *Table {
	t.Helper()
	dir := t.TempDir()
	for _, c := range r.Cells {
		for _, o := range c.Runs {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, o.Dir), 0o755),
				os.WriteFile(filepath.Join(dir, o.Dir, harness.ReportFile), nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return Of(r, dir, dir)
}

// Two hundred cells fit, nothing of elsewhere is in the page, and no word of a run becomes a part of it.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	if err := shownIn(t, large(200)).HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if b.Len() > 3<<20 {
		t.Errorf("%d bytes", b.Len())
	}
	for _, bad := range []string{"<script>alert", "http://", "https://", "<b> ", "src="} {
		text := strings.ReplaceAll(page, "http://www.w3.org/", "") // names of SVG, not addresses
		if strings.Contains(text, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
	for _, want := range []string{
		"all &amp; &lt;b&gt;", "a control misbehaves", `href="runs/backend-3/fault-7/seed-2/report.html"`,
		`id="backend-3/fault-7"`, "<svg", "Time to acquire", "Time to recover", "Ranked by &lt;x&gt;.", "group 1: fewest violations",
		"group 2", "not measured", `colspan="25"`, "backend-1 survived &lt;all&gt; | of it.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if n := strings.Count(page, "<tr id="); n != 201 {
		t.Errorf("%d rows", n)
	}
	if text := html.UnescapeString(page); !strings.Contains(text, "it <failed>") {
		t.Error("why a run failed is not told")
	}
}

// A table without anything is a page, too.
func TestEmptyPage(t *testing.T) {
	for _, table := range []*Table{Of(&gate.SuiteResults{}, "", ""), Of(large(0), "", ""), Of(large(1), "", "")} {
		var b bytes.Buffer
		if err := table.HTML(&b); err != nil {
			t.Error(err)
		}
		if err := table.Markdown(&b); err != nil {
			t.Error(err)
		}
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := Of(large(40), "", "").Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# all & &lt;b>", "> Controls with an unexpected outcome: a control misbehaves", "- **violation** backend-0/fault-1:",
		"| lock | none | fault-1 |", "**inherent** (violation), 3 per 1000 grants", "| **group 1: fewest violations** |",
		"- backend-1 survived &lt;all> | of it.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	width := 0
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "| ") {
			width = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if width != 0 && n != width {
			t.Errorf("a row has %d bars, and not %d: %s", n, width, line)
		}
		width = n
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := Of(large(40), "", "").CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 42 {
		t.Fatalf("%d rows (%v)", len(rows), err)
	}
	p99 := slices.Index(rows[0], "acquire_p99_ns")
	if rows[0][9] != "why" || rows[0][10] != "exposures" || p99 < 0 || rows[3][p99] != "8000000" || rows[41][10] != "" {
		t.Errorf("%v\n%v\n%v", rows[0], rows[3], rows[41])
	}
}

// Every run is a case of the suite of its backend; what is not as expected fails or is an error; what was
// not run is skipped with its reason. It is XML, whatever the words are.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := Of(large(40), "", "").JUnit(&b); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Suites []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.NewDecoder(&b).Decode(&all); err != nil && err != io.EOF { //nolint:errorlint // the package returns it as it is
		t.Fatal(err)
	}
	if len(all.Suites) != 3 || all.Suites[0].Name != "mylocks.backend-0" || len(all.Suites[0].Cases) != 60 {
		t.Fatalf("%d suites", len(all.Suites))
	}
	failures, errs := 0, 0
	for _, c := range all.Suites[0].Cases {
		if c.Failure != nil {
			failures++
		}
		if c.Error != nil {
			errs++
		}
	}
	if failures != 30 || errs != 15 {
		t.Errorf("%d failures, %d errors", failures, errs)
	}
	if c := all.Suites[2].Cases; len(c) != 1 || c[0].Skipped == nil || c[0].Skipped.Message != "no server" {
		t.Errorf("%+v", c)
	}
}

// Two suites side by side: what differs significantly stands open, the rest is folded, and nothing is left out.
func TestSides(t *testing.T) {
	of := func(word suite.Outcome, p99 int64) *gate.SuiteResults {
		c := gate.CellResult{Name: "a", Outcome: word}
		for i := range int64(12) {
			c.Runs = append(c.Runs, gate.RunResult{Stats: checker.Figures{
				"grants": 100, "violations": 0, "acquire_p99_ns": p99 + i*1000,
			}})
		}
		f, _ := tally.Find("acquire.p99")
		v, _ := f.Over(c.Samples())
		c.Figures = map[string]tally.Value{f.Name: v}
		return &gate.SuiteResults{Name: "fake", Cells: []gate.CellResult{c}}
	}
	before, after := of(suite.Safe, 1e6), of(suite.Defect, 9e6)
	after.Baseline = gate.Compare(before, after)
	table := Of(after, "", "")
	s := table.Sides()
	if s.Before == s.After {
		t.Errorf("both are called %s", s.Before)
	}
	rows := map[string]side{}
	for _, r := range s.Rows {
		rows[r.Figure] = r
	}
	if len(s.Of(true).Rows)+len(s.Of(false).Rows) != len(s.Rows) || len(rows) != len(s.Rows) {
		t.Errorf("%d and %d of %d rows", len(s.Of(true).Rows), len(s.Of(false).Rows), len(s.Rows))
	}
	if v := rows["verdict"]; !v.Differs || v.Before.Text != string(suite.Safe) || v.After.Text != string(suite.Defect) {
		t.Errorf("verdict: %+v", v)
	}
	slower := rows["acquire.p99"]
	if !slower.Differs || !strings.HasPrefix(slower.Note, "worse (p = ") || slower.Ratio == "" ||
		slower.Before.Text == slower.After.Text {
		t.Errorf("acquire.p99: %+v", slower)
	}
	var b bytes.Buffer
	if err := table.HTML(&b); err != nil {
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
