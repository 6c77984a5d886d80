package tables

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

var (
	rewrite  = flag.Bool("rewrite", false, "write the files anew")
	choosing = flag.String("choosing", "", "write docs/choosing.md from the suite in this directory")
	defaults = flag.String("defaults", "", "write docs/defaults.md from the suite in this directory")
	matrix   = flag.String("matrix", "", "write docs/matrix.md from the suite in this directory")
)

// The page of a measured suite can be written, and says what became of each cell; with -matrix it is.
func TestMatrix(t *testing.T) {
	cell := gate.Judged{
		Name: "a/flush", Row: "a", Column: "flush", Status: gate.Worse, Word: suite.Defect, AsIt: 1, Of: 3, Command: "--backend a --nemesis flush",
		Figures: map[string]tally.Value{"violations.rate": {Value: 12, Low: 3, High: 40}, "recovery.median": {Value: 1e9, Low: 1e9, High: 1e9}},
	}
	r := &gate.Results{Verdict: "1 cells", Cells: []gate.Judged{cell}, CPUs: 2, Versions: map[string]string{"redis-server": "redis-server v=7"}}
	for _, want := range []string{"## a", "| flush | **defect** (violation) | 1 of 3 | 12 (3 to 40) |", "1.00 s", "The runs used these versions: redis-server v=7."} {
		if text := Matrix(r); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if *matrix == "" {
		return
	}
	r, err := gate.ReadResults(*matrix)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("../matrix.md", []byte(Matrix(r)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The docs say what the catalogue says.
func TestDocsAreNotStale(t *testing.T) {
	cat := harness.New(stores.All()...)
	b, err := os.ReadFile("../claims.json")
	if err != nil {
		t.Fatal(err)
	}
	var answers []cases.Answer
	if err := json.Unmarshal(b, &answers); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"../faults.md": Faults(cat), "../backends.md": Backends(cat), "../claims.md": Claims(answers)}
	page, err := os.ReadFile("../suite.md")
	if err != nil {
		t.Fatal(err)
	}
	files["../suite.md"] = Suite(string(page))
	if page, err = os.ReadFile("../history.md"); err != nil {
		t.Fatal(err)
	}
	files["../history.md"] = History(string(page))
	if page, err = os.ReadFile("../libraries-measured.md"); err != nil {
		t.Fatal(err)
	}
	files["../libraries-measured.md"] = Libraries(string(page), "", cat, nil)
	if page, err = os.ReadFile("../adapters-measured.md"); err != nil {
		t.Fatal(err)
	}
	files["../adapters-measured.md"] = Adapters(string(page), "", nil)
	if page, err = os.ReadFile("../releases.md"); err != nil {
		t.Fatal(err)
	}
	files["../releases.md"] = Releases(string(page), "", nil)
	images := Pictures(answers)
	for name, svg := range images {
		files["../images/"+name] = string(svg)
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
	if text := Backends(cat); strings.Contains(text, "| ? |") {
		t.Error("docs/backends.md has cells that nobody has filled: see suite/table.go")
	}
}

// What was found wrong with a library is explained, in a section that there is.
func TestLibrariesAreExplained(t *testing.T) {
	page, err := os.ReadFile("../libraries-measured.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, unmeasured := libraryRows(string(page), harness.New(stores.All()...), nil)
	if page, err = os.ReadFile("../adapters-measured.md"); err != nil {
		t.Fatal(err)
	}
	adapters, more := adapterRows(string(page), nil)
	rows, unmeasured = append(rows, adapters...), append(unmeasured, more...)
	if len(unmeasured) > 0 {
		t.Errorf("not measured (run `make libraries` or `make adapters`): %s", strings.Join(unmeasured, "; "))
	}
	for _, r := range rows {
		if _, missing := r.why(); len(missing) > 0 {
			t.Errorf("%s, %s, %s (%s): docs/libraries.md does not say why: %s", r.variant, r.discipline, r.fault, r.Runs, strings.Join(missing, ", "))
		}
	}
	for _, e := range explanations {
		if !strings.Contains(string(text), "\n## "+e.heading+"\n") {
			t.Errorf("docs/libraries.md has no section %q", e.heading)
		}
	}
}

// trackRow is a row of docs/track-record.md: number, failure, source, command, exit code.
var trackRow = regexp.MustCompile("(?m)^\\| (\\d+) \\| (.*) \\| (\\[.*\\)) \\| `(.*)` \\| (\\d+) \\|")

// The page of the track record has the published cases: measured figures stay as they are
// until make track-record measures again.
func TestTrackRecordHasThePublishedCases(t *testing.T) {
	text, err := os.ReadFile("../track-record.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, cases := trackRow.FindAllStringSubmatch(string(text), -1), cases.Published()
	if len(rows) != len(cases) {
		t.Fatalf("%d rows, %d published cases: run `make track-record`", len(rows), len(cases))
	}
	for i, c := range cases {
		cfg, err := harness.ParseLine(rows[i][4])
		if err != nil {
			t.Fatal(err)
		}
		row := []string{strconv.Itoa(i + 1), c.Text, c.Source, rows[i][4], strconv.Itoa(c.Expect.Exit[0])}
		if !reflect.DeepEqual(rows[i][1:], row) || !reflect.DeepEqual(cfg, c.Run) {
			t.Errorf("row %v\nis not case %s: %v\n(run `make track-record`)", rows[i][1:], c.Name, c.Run.Line())
		}
	}
}

// The page of the known flaws can be written; with -defaults it is, and each flaw must be found in 8 of 10 runs.
func TestDefaults(t *testing.T) {
	cell := gate.Judged{
		Name: "a/flush", Row: "a", Column: "flush", Text: "it forgets", AsIt: 9, Of: 10, Command: "--backend a", Runs: []gate.Outcome{{Seed: 3}, {Seed: 12}},
	}
	r := &gate.Results{Cells: []gate.Judged{{Row: "none", Control: true}, cell}, CPUs: 2}
	want := "| --- | --- | --- | --- | --- | --- |\n| `a` | it forgets | flush | 3 to 12 | 9 of 10 | `--backend a` |\n"
	if text := Defaults(r); !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
	if *defaults == "" {
		return
	}
	r, err := gate.ReadResults(*defaults)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range r.Cells {
		if j.AsIt*10 < j.Of*8 || j.Of == 0 {
			t.Errorf("%s: found in %d of %d runs", j.Name, j.AsIt, j.Of)
		}
	}
	if err := os.WriteFile("../defaults.md", []byte(Defaults(r)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The page of a comparison can be written; with -choosing it is.
func TestChoosing(t *testing.T) {
	share := &tally.Value{Value: 20, Low: 7, High: 41}
	r := &gate.Results{Verdict: "1 cell: 1 measured", CPUs: 2, Cells: []gate.Judged{{Name: "a/none", Row: "a", Of: 5}}, Answer: &answer.Answer{
		RankedBy: "Ranked by x.", Groups: 3, Locks: []answer.Lock{{Name: "a", Group: 1, Sentence: "a survived flap.", Survived: []string{"flap"}, Rate: share, Runs: 25}},
	}}
	for _, want := range []string{"1 locks without faults and under four faults. Each lock ran with 5 seeds", "**Group 1: fewest violations**", "- `a` survived flap.", "| 1 | `a` | 20 % (7 % to 41 %) | flap |"} {
		if text := Choosing(r); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if *choosing == "" {
		return
	}
	r, err := gate.ReadResults(*choosing)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Compare || r.Interrupted || r.ExitCode != 0 {
		t.Fatalf("%s is no comparison that came to its end: %s", *choosing, r.Verdict)
	}
	if err := os.WriteFile("../choosing.md", []byte(Choosing(r)), 0o644); err != nil {
		t.Fatal(err)
	}
}
