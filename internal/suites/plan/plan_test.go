package plan_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

func TestMain(m *testing.M) {
	harness.WorkerMain(harness.New(stores.All()...))
	os.Exit(m.Run())
}

func cellsOf(t *testing.T, text string) []plan.Cell {
	t.Helper()
	f, err := plan.Read("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(cases.Suites(harness.New(stores.All()...)))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(cells, func(c plan.Cell) bool { return c.Control })
}

func named(t *testing.T, cells []plan.Cell, name string) plan.Cell {
	t.Helper()
	i := slices.IndexFunc(cells, func(c plan.Cell) bool { return c.Case.Name == name })
	if i < 0 {
		t.Fatalf("no cell %s", name)
	}
	return cells[i]
}

const example = `
name: example
seeds: 2
run: {time: 4s, clients: 3}
axes:
  backend: [redis-lua, "redsync:setnx-extend=yes"]
  nemesis: [none, "client-pause:at=before-write", [client-pause, client-kill]]
  ttl: [500ms, 2s]
exclude:
  - {backend: redsync, nemesis: none, ttl: 2s}
expect:
  - of: {nemesis: client-pause*}
    outcome: inherent
  - of: {nemesis: "client-pause+client-kill", ttl: 2s}
    outcome: any
    checks: {ownership: safe, mutual-exclusion: inherent}
    thresholds: recovery < 5*ttl
include:
  - name: more
    run: {backend: redis-setnx, nemesis: client-kill}
    outcome: blocks
    seeds: [7, 9]
  - {name: last, run: {backend: redis-fenced, nemesis: client-pause, fencing: "on"}, outcome: safe, seeds: [7000]}
  - cases: published
    only: [late-del, redlock-*]
    seeds: 1
`

// A file says what is run, how often, and what must come of it.
func TestCells(t *testing.T) {
	t.Parallel()
	cells := cellsOf(t, example)
	if n := len(cells); n != 2*3*2-1+2+1+7 {
		t.Errorf("%d cells", n)
	}
	c := named(t, cells, "redis-lua/client-pause-client-kill/ttl-2s")
	if got := c.Case.Run.Line(); got != "--backend redis-lua --clients 3 --nemesis client-pause --nemesis client-kill --ttl 2s "+
		"--time 4s" {
		t.Error(got)
	}
	if c.Row != "redis-lua" || c.Column != "client-pause + client-kill" || !slices.Equal(c.Seeds, []uint64{1, 2}) ||
		len(c.Thresholds) != 1 {
		t.Errorf("%+v", c)
	}
	if c.Case.Expect.Outcome != suite.Any || c.Case.Expect.Verdicts[checker.Ownership] != checker.Pass ||
		c.Case.Expect.Classes[checker.MutualExclusion] != checker.Inherent {
		t.Errorf("%+v", c.Case.Expect)
	}
	c = named(t, cells, "redsync-setnx-extend-yes/client-pause-at-before-write/ttl-500ms")
	if c.Case.Expect.Outcome != suite.Inherent || len(c.Case.Expect.Verdicts) > 0 {
		t.Errorf("%+v", c.Case.Expect)
	}
	if c := named(t, cells, "more"); !slices.Equal(c.Seeds, []uint64{7, 9}) || c.Case.Expect.Outcome != suite.Blocks ||
		c.Case.Run.Clients != 3 {
		t.Errorf("%+v", c)
	}
	if c := named(t, cells, "last"); c.Case.Expect.Outcome != suite.Safe || !slices.Equal(c.Seeds, []uint64{7000}) {
		t.Errorf("a list of one seed is this seed, and a rule for all goes before what a cell says of itself: %+v", c.Case.Expect)
	}
	if c := named(t, cells, "late-del"); c.Case.Expect.Verdicts[checker.Ownership] != checker.Fail ||
		!slices.Equal(c.Seeds, []uint64{1}) {
		t.Errorf("a case of a set has lost what it expects: %+v", c)
	}
	if slices.ContainsFunc(cells, func(c plan.Cell) bool { return c.Case.Name == "redsync-setnx-extend-yes/none/ttl-2s" }) {
		t.Error("an excluded cell is there")
	}
}

// An entry has axes of its own, a name for each combination and exact expectations; what begins with x- is for anchors.
func TestEntries(t *testing.T) {
	t.Parallel()
	cells := cellsOf(t, `
x-faults: &faults [none, "client-pause:for=2ttl"]
include:
  - &first
    name: "locks/{backend}/{nemesis}"
    source: "[us](https://example.org)"
    x-note: nobody reads it
    run: {time: 4s}
    axes: {backend: [redis-lua, redsync], nemesis: *faults}
    exit: [0, 1]
    checks: {mutual-exclusion: violated, coverage: unknown}
    classes: {data-plain: inherent}
    rules: {mutual-exclusion: [late-notice, overlap]}
    figures: [grants >= 1, wait_p99_ns <= 2s, wait_p99_ns >= 1ms, violations == 3]
  - {<<: *first, name: "again/{nemesis}", axes: {backend: redis-del, nemesis: *faults}, exit: any}
`)
	var names []string
	for _, c := range cells {
		names = append(names, c.Case.Name)
	}
	want := []string{
		"locks/redis-lua/none", "locks/redis-lua/client-pause-for-2ttl", "locks/redsync/none", "locks/redsync/client-pause-for-2ttl",
		"again/none", "again/client-pause-for-2ttl",
	}
	if !slices.Equal(names, want) {
		t.Errorf("cells %q, want %q", names, want)
	}
	one, two, three := int64(1), int64(2e9), int64(3)
	ms := int64(1e6)
	expect := suite.Expectation{
		Exit: []int{0, 1}, Verdicts: map[string]checker.Verdict{
			checker.MutualExclusion: checker.Fail,
			checker.Coverage:        checker.Unknown,
		},
		Classes: map[string]checker.Class{checker.DataPlain: checker.Inherent},
		Rules:   map[string][]string{checker.MutualExclusion: {"late-notice", "overlap"}},
		Figures: map[string]suite.Bound{
			"grants": {AtLeast: &one}, "wait_p99_ns": {AtLeast: &ms, AtMost: &two},
			"violations": {AtLeast: &three, AtMost: &three},
		},
	}
	for _, c := range cells {
		if strings.HasPrefix(c.Case.Name, "again/") {
			expect.Exit = nil
		}
		if !reflect.DeepEqual(c.Case.Expect, expect) || c.Case.Source == "" {
			t.Errorf("%s: %+v\nwant %+v", c.Case.Name, c.Case.Expect, expect)
		}
	}
}

// Presets, and the file to begin with, can be run and are as the schema for editors says; what is
// misspelt is not.
func TestFilesAreSound(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	book := cases.Suites(harness.New(stores.All()...))
	for _, name := range append(book.PresetNames(), "init") {
		text, ok := book.Presets[name]
		if !ok {
			var err error
			if text, err = plan.Init(cases.Suites(harness.New(stores.All()...)), "lockstorm"); err != nil {
				t.Fatal(err)
			}
		}
		f, err := plan.Read(name, text)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := f.Cells(cases.Suites(harness.New(stores.All()...)))
		if err != nil {
			t.Fatal(err)
		}
		if len(cells) < 4 || !cells[0].Control {
			t.Errorf("%s has %d cells", name, len(cells))
		}
		if err := schema.Validate(generic(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, faults := range [][]string{{"none", "client-pause"}, {"none", "client-kill"}, {"none"}} { // of locks of one's own
		text, err := plan.InitOwn("mylock", []string{"redis-lua"}, faults, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := plan.Read("own", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if _, err := f.Cells(cases.Suites(harness.New(stores.All()...))); err != nil {
			t.Errorf("%v: %v\n%s", faults, err, text)
		}
	}
	if err := schema.Validate(generic(t, []byte(example))); err != nil {
		t.Error(err)
	}
	for _, text := range []string{
		"name: x\n", "nam: x\naxes: {backend: redis-lua}\n", "axes: {backend: redis-lue}\n", "axes: {backend: redis-lua, nemeses: " +
			"none}\n", "axes: {backend: redis-lua, seed: 3}\n",
		"missing: maybe\naxes: {backend: redis-lua}\n", "axes: {backend: redis-lua}\nexpect: [{outcome: save}]\n",
		"axes: {backend: redis-lua}\nexpect: [{checks: {mutual: safe}}]\n",
	} {
		if schema.Validate(generic(t, []byte(text))) == nil {
			t.Errorf("the schema takes %q", text)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	b, err := json.Marshal(plan.Schema(cases.Suites(harness.New(stores.All()...))))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("suite.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("suite.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// generic is a YAML text as JSON would have it.
func generic(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestReplace(t *testing.T) {
	t.Parallel()
	f, err := plan.Read("s.yaml", []byte("axes: {backend: [redis-lua, redsync], nemesis: client-pause}\nexpect: [{outcome: "+
		"inherent}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(cases.Suites(harness.New(stores.All()...)))
	if err != nil {
		t.Fatal(err)
	}
	cells = cells[3:] // controls
	cells[0].Skip = "no server of the old one"
	if err := f.Replace(harness.New(stores.All()...), cells, "redis-lua", "redis-del"); err != nil {
		t.Fatal(err)
	}
	if cells[0].Case.Run.Backend != "redis-del" || cells[0].Case.Name != "redis-lua/client-pause" ||
		cells[0].Case.Expect.Outcome != suite.Inherent || cells[1].Case.Run.Backend != "redsync" {
		t.Errorf("%+v", cells)
	}
	if cells[0].Skip != "" {
		t.Errorf("what could be run is skipped: %s", cells[0].Skip)
	}
	for _, pair := range [][2]string{{"redis-lua", "redis-de"}, {"zk-exclusive", "redis-del"}} {
		if err := f.Replace(harness.New(stores.All()...), cells, pair[0], pair[1]); err == nil {
			t.Errorf("%v was replaced", pair)
		}
	}
}

// A replacement that is impossible is skipped where the suite skips what is impossible, and else an error.
func TestReplaceImpossible(t *testing.T) {
	t.Parallel()
	const text = "axes: {backend: redis-lua, nemesis: [server-restart, none]}\n"
	for _, c := range []struct {
		text string
		ok   bool
	}{{text, false}, {"impossible: skip\n" + text, true}} {
		f, err := plan.Read("s.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		cells, err := f.Cells(cases.Suites(harness.New(stores.All()...)))
		if err != nil {
			t.Fatal(err)
		}
		err = f.Replace(harness.New(stores.All()...), cells, "redis-lua", "file-flock")
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", c.text, err)
		}
		if last := cells[len(cells)-2:]; c.ok && (last[0].Skip == "" || last[1].Skip != "") {
			t.Errorf("skipped: %q, %q", last[0].Skip, last[1].Skip)
		}
	}
}

// The arguments of a program tell its cells apart, and its rows.
func TestExecAxis(t *testing.T) {
	cells := slices.DeleteFunc(cellsOf(t, `
name: exec
axes:
  exec:
    - [../../../adapters/python/flock.py]
    - [../../../adapters/python/flock.py, first]
    - [../../../adapters/python/flock.py, a/second]
  nemesis: client-pause
`), func(c plan.Cell) bool { return c.Control })
	var rows []string
	for _, c := range cells {
		rows = append(rows, c.Row)
	}
	flock := "exec:cmd=../../../adapters/python/flock.py"
	if want := []string{flock, flock + " first", flock + " second"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
}

// A lock in another language, with its arguments, takes the place of a backend.
func TestExec(t *testing.T) {
	c := named(t, cellsOf(t, `
name: exec
include:
  - name: one
    run: {exec: [../../../adapters/python/flock.py, an, argument], nemesis: client-pause}
`), "one")
	want := "--backend exec:cmd=../../../adapters/python/flock.py --nemesis client-pause -- an argument"
	if line := c.Case.Run.Line(); line != want {
		t.Errorf("%s, want %s", line, want)
	}
}
