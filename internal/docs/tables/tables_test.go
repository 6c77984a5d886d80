package tables

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli/claims"
	"github.com/lockstorm/lockstorm/internal/docs/measured"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

var rewrite = flag.Bool("rewrite", false, "write the files anew")

// The docs say what the catalogue says.
func TestDocsAreNotStale(t *testing.T) {
	cat := harness.New(stores.All()...)
	var answers []cases.ClaimResult
	if err := json.Unmarshal(claims.Measured, &answers); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"../../../docs/faults.md": Faults(cat), "../../../docs/backends.md": Backends(cat)}
	page, err := os.ReadFile("../../../docs/suite.md")
	if err != nil {
		t.Fatal(err)
	}
	files["../../../docs/suite.md"] = Suite(string(page))
	if page, err = os.ReadFile("../../../docs/history.md"); err != nil {
		t.Fatal(err)
	}
	files["../../../docs/history.md"] = History(string(page))
	for name, data := range data(t, answers) {
		if files["../../../docs/"+name+".md"], err = Render("../../../docs", name, data); err != nil {
			t.Fatal(err)
		}
		if name != "claims" {
			files["../../../docs/measured/"+name+".csv"] = data.String()
		}
	}
	for name, svg := range Pictures(answers) {
		files["../../../docs/images/"+name] = string(svg)
	}
	for path, text := range files {
		if *rewrite {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(old) != text {
			t.Errorf("%s is stale: run `make docs` and read the difference", path)
		}
	}
}

// Every fault says how it is proven and how it ends, and every cell of the table says something.
func TestNothingIsMissing(t *testing.T) {
	cat := harness.New(stores.All()...)
	for _, f := range cat.Nemeses.All() {
		if f.Name != "none" && (f.Proven == "" || f.End == "") {
			t.Errorf("fault %s does not say how it is proven and how it ends", f.Name)
		}
	}
	if text := Backends(cat); strings.Contains(text, "|unknown|") {
		t.Error("docs/backends.md has cells that nobody has filled: see internal/suites/cases/documented.yaml")
	}
}

// data are what the measured pages show, by the name of the page.
func data(t *testing.T, answers []cases.ClaimResult) map[string]*measured.Table {
	t.Helper()
	all := map[string]*measured.Table{"claims": Claims(answers)}
	for _, name := range []string{"matrix", "choosing", "versions", "defaults"} {
		all[name] = read(t, name)
	}
	for _, s := range []Series{Libraries(), Adapters(), Releases(), TrackRecord(), Containers(), Databases(), Ensembles(), Power()} {
		table, _, err := s.Table("../../../docs", nil)
		if err != nil {
			t.Fatal(err)
		}
		all[s.Page] = table
	}
	return all
}

func read(t *testing.T, name string) *measured.Table {
	t.Helper()
	table, err := measured.Read("../../../docs/measured/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Every case has figures, and what was found wrong with a library is explained in a section that there is. (Of containers,
// releases and losses of power not every case can be had.)
func TestCasesAreMeasuredAndExplained(t *testing.T) {
	text, err := os.ReadFile("../../../docs/libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	why := read(t, "why").Rows
	for _, s := range []Series{Libraries(), Adapters(), TrackRecord(), Databases(), Ensembles()} {
		table, unmeasured, err := s.Table("../../../docs", nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(unmeasured) > 0 {
			t.Errorf("%s: not measured (run `%s`): %s", s.Page, table.About["command"], strings.Join(unmeasured, "; "))
		}
		if !slices.Contains(table.Columns, "variant") {
			continue
		}
		if _, missing := explained(why, table.Rows); len(missing) > 0 {
			t.Errorf("docs/measured/why.csv has no line for %s", strings.Join(missing, "; "))
		}
	}
	for _, w := range why {
		if !strings.Contains(string(text), "\n## "+w["heading"]+"\n") {
			t.Errorf("docs/libraries.md has no section %q", w["heading"])
		}
	}
}

// A row whose command is another one has no figures; one that was measured has the new ones.
func TestUpdate(t *testing.T) {
	row := func(command, runs string) measured.Row {
		return measured.Row{"case": "a", "command": command, "runs": runs}
	}
	for name, c := range map[string]struct {
		was  string
		got  map[string]measured.Row
		want string // runs; empty: missing
	}{
		"as it was":       {"x", nil, "5"},
		"another command": {"y", nil, ""},
		"measured":        {"y", map[string]measured.Row{"a": {"runs": "7"}}, "7"},
	} {
		table := &measured.Table{Columns: []string{"case", "runs", "command"}, Rows: measured.Rows{row(c.was, "5")}}
		missing := table.Update(measured.Rows{{"case": "a", "command": "x"}}, c.got)
		switch {
		case c.want == "" && (len(missing) != 1 || len(table.Rows) != 0):
			t.Errorf("%s: %v", name, table.Rows)
		case c.want != "" && (len(missing) != 0 || table.Rows[0]["runs"] != c.want || table.Rows[0]["command"] != "x"):
			t.Errorf("%s: %v", name, table.Rows)
		}
	}
}

// suiteOf is a suite of three locks, two of which fail in one of three runs.
func suiteOf() *gate.SuiteResults {
	cell := func(lock string, word suite.Outcome) gate.CellResult {
		return gate.CellResult{
			Row: lock, Column: "client-pause", Status: gate.Violation, AsIt: 1, Of: 3, Command: "--backend " + lock,
			Runs: []gate.RunResult{{Outcome: word}, {Outcome: suite.Safe}, {Outcome: suite.Safe, Status: gate.Inconclusive}},
			Figures: map[string]tally.Value{
				"violations.rate": {Value: 12, Low: 3, High: 40},
				"recovery.median": {Value: 1.5e9, Low: 1e9, High: 2e9},
			},
		}
	}
	lock := func(name string, lost float64) answer.Lock {
		return answer.Lock{Name: name, PlainShare: &tally.Value{Value: lost}, Recovery: &tally.Value{Value: 1.5e9}}
	}
	return &gate.SuiteResults{
		Verdict: "3 cells", CPUs: 2, Versions: map[string]string{"redis-server": "redis-server v=7"},
		Cells:  []gate.CellResult{cell("file-flock", suite.Safe), cell("redis-del", suite.Defect), cell("redis-lua", suite.Defect)},
		Answer: &answer.Ranking{Locks: []answer.Lock{lock("file-flock", 0), lock("redis-del", 30), lock("redis-lua", 20)}},
	}
}

// fills are the pages that a suite measures.
var fills = map[string]func(*measured.Table, *harness.Catalogue, *gate.SuiteResults){
	"matrix": Matrix, "choosing": Choosing, "defaults": Defaults,
}

// The pages of measured suites can be written.
func TestSuites(t *testing.T) {
	for page, wants := range map[string][]string{
		"matrix": {
			"|fault|`file-flock`|\n|---|:-:|\n|[client-pause](faults.md#client-pause)|✅2/3|\n", "|fault|`redis-del`|`redis-lua`|\n",
			"|❌1/3|❌1/3|\n",
			"`redis-lua` under `client-pause` was not as expected: " + string(gate.Violation) + ", 1 of 3",
		},
		"choosing": {
			"|**Defects**|||||||||||\n|`redis-lua`|➖|❌1/3|➖|➖|➖|➖|20 %|no tokens|1.5 s||\n|`redis-del`|➖|❌1/3|",
			"|**One host only**|||||||||||\n|`file-flock`|➖|✅2/3|➖|➖|➖|➖|0 %|not needed|",
		},
		"defaults": {"|`file-flock`||`client-pause`|1/3|\n"},
	} {
		table := read(t, page)
		fills[page](table, harness.New(stores.All()...), suiteOf())
		text, err := Render("../../../docs", page, table)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in (%v)\n%s", want, err, text)
			}
		}
	}
}

// A release changed something where its runs ended otherwise than those before; runs without a verdict say nothing.
func TestChanged(t *testing.T) {
	row := func(safe, inherent, defect, unknown string) measured.Row {
		return measured.Row{
			"safe_runs": safe, "inherent_runs": inherent, "blocks_runs": "0", "defect_runs": defect,
			"unknown_runs": unknown,
		}
	}
	for name, c := range map[string]struct {
		rows measured.Rows
		want bool
	}{
		"one":          {measured.Rows{row("3", "0", "0", "0")}, false},
		"more of it":   {measured.Rows{row("1", "2", "0", "0"), row("2", "1", "0", "0")}, false},
		"new":          {measured.Rows{row("3", "0", "0", "0"), row("2", "0", "1", "0")}, true},
		"open between": {measured.Rows{row("3", "0", "0", "0"), row("0", "0", "0", "3"), row("3", "0", "0", "0")}, false},
		"open, new":    {measured.Rows{row("3", "0", "0", "0"), row("0", "0", "0", "3"), row("0", "3", "0", "0")}, true},
	} {
		if got := changed(c.rows); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
