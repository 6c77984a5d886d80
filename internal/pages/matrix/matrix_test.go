package matrix

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"strings"
	"testing"
)

// large is a table of so many cells, with words that must be escaped.
func large(cells int) *Table {
	t := &Table{
		Title: "all & <b>", Program: "mylocks", Doc: "every lock", Verdict: "not as expected", Class: "fail",
		Facts:  [][2]string{{"exit code", "1"}},
		Alerts: []string{"a control misbehaves"}, Changes: []string{"new violation: x"},
		Answer: &Ranking{Ranked: "Ranked by <x>.", Columns: []string{"violating runs", "survived"}, Locks: []Lock{
			{
				Group: 1, Title: "group 1: fewest violations", Name: "backend-1", Sentence: "backend-1 survived <all> | of it.",
				Values: []Value{{Text: "0 %", Interval: "0 % to 5 %"}, {Text: "flap"}},
			},
			{Group: 2, Title: "group 2", Name: "backend-2", Sentence: "backend-2 did not.", Values: []Value{{Text: "50 %"}, {Text: "-"}}},
			{Title: "not measured", Name: "backend-3", Sentence: "backend-3 was not measured.", Values: []Value{{Text: "-"}, {Text: "-"}}},
		}},
	}
	for _, name := range []string{"exposures", "violations.rate", "overlap", "recovery.median", "acquire.p50", "acquire.p99"} {
		t.Figures = append(t.Figures, Figure{Name: name, Doc: "of " + name, Unit: "ns"})
	}
	words := []string{"safe", "inherent", "defect", "blocks", "unknown"}
	kinds := []string{"good", "bad", "odd", "open"}
	for i := range cells {
		c := Cell{
			Name: fmt.Sprintf("backend-%d/fault-%d", i/20, i%20), Text: "a <script>alert(1)</script> | pipe",
			Row: fmt.Sprintf("backend-%d", i/20), Column: fmt.Sprintf("fault-%d", i%20),
			Status: "violation", Kind: kinds[i%4], Word: words[i%5], Expected: "safe", Rate: "3 per 1000 grants",
			Why: []string{"seed 1: it failed\nbadly"}, AsIt: 2, Of: 3,
			Values: map[string]Value{}, Command: "--backend redis-lua --nemesis 'x'",
		}
		if c.Column == "fault-0" {
			c.Column, c.Word = "none", "safe"
		}
		for n, f := range t.Figures {
			c.Values[f.Name] = Value{
				Text: fmt.Sprint(i * n), Interval: "1 to 2", Value: float64(i*n) * 1e6, Low: float64(i*n) * 0.5e6,
				High: float64(i*n) * 2e6,
			}
		}
		for seed := 1; seed <= 3; seed++ {
			c.Runs = append(c.Runs, Run{Label: fmt.Sprintf("seed %d", seed), Link: fmt.Sprintf("runs/%s/seed-%d/report.html", c.Name,
				seed), Status: "violation", Kind: c.Kind, Took: 1.5, Text: "it <failed> \x00"})
		}
		t.Cells = append(t.Cells, c)
	}
	t.Cells = append(t.Cells, Cell{
		Name: "control", Row: "none", Column: "none", Control: true, Status: "skipped", Kind: "off",
		Word: "skipped", Why: []string{"no server"}, Command: "--backend none",
	})
	return t
}

// Two hundred cells fit, nothing of elsewhere is in the page, and no word of a run becomes a part of it.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, large(200)); err != nil {
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
		"group 2", "not measured", `colspan="3"`, "backend-1 survived &lt;all&gt; | of it.",
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
	for _, table := range []*Table{{}, large(0), large(1)} {
		var b bytes.Buffer
		if err := HTML(&b, table); err != nil {
			t.Error(err)
		}
		if err := Markdown(&b, table, true); err != nil {
			t.Error(err)
		}
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, large(40), true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# all & &lt;b>", "> a control misbehaves", "- **violation** backend-0/fault-1:",
		"| backend | none | fault-1 |", "**inherent** (violation), 3 per 1000 grants", "| 1 | backend-1 | 0 % (0 % to 5 %) | flap |",
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
	if err := CSV(&b, large(40)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 42 {
		t.Fatalf("%d rows (%v)", len(rows), err)
	}
	if rows[0][9] != "why" || rows[0][10] != "exposures_ns" || rows[3][10+3*5] != "10000000" || rows[41][10] != "" {
		t.Errorf("%v\n%v\n%v", rows[0], rows[3], rows[41])
	}
}

// Every run is a case of the suite of its backend; what is not as expected fails or is an error; what was
// not run is skipped with its reason. It is XML, whatever the words are.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := JUnit(&b, large(40)); err != nil {
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
