package suite

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/harness"
)

// What can be told of no run is refused, with a sentence that says why.
func TestWrongExpectations(t *testing.T) {
	for want, e := range map[string]Expectation{
		"every run would meet it":                        {},
		`outcome "save"`:                                 {Outcome: "save"},
		"exit code 6":                                    {Exit: codes{6}},
		`unknown check "liveliness"`:                     {Verdicts: verdicts{"liveliness": checker.Pass}},
		`unknown check "owner"`:                          {Classes: classes{"owner": checker.Defect}},
		`unknown check "mutex"`:                          {Rules: map[string][]string{"mutex": {"overlap"}}},
		`verdict "failed" for check ownership`:           {Verdicts: verdicts{checker.Ownership: "failed"}},
		`class "bug" for check ownership`:                {Classes: classes{checker.Ownership: "bug"}},
		"the list of rules for check ownership is empty": {Rules: map[string][]string{checker.Ownership: {}}},
		`rule "Overlap" for check ownership`:             {Rules: map[string][]string{checker.Ownership: {"Overlap"}}},
		`figure "grants-max"`:                            {Figures: figures{"grants-max": AtLeast(1)}},
		"figure grants has no limit":                     {Figures: figures{"grants": {}}},
		"figure grants: the range 2 to 1 is empty":       {Figures: figures{"grants": between(2, 1)}},
	} {
		if err := e.Validate(checks.Default()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", e, err, want)
		}
	}
	all := Expectation{
		Outcome: Mostly, Exit: codes{0, 1, 2, 3, 4, 130}, Verdicts: verdicts{checker.Ownership: checker.Unknown},
		Classes: classes{checker.Ownership: checker.NoClass}, Rules: map[string][]string{checker.Ownership: {"foreign-release"}},
		Figures: figures{"overlap_max_ns": between(1, 1)},
	}
	if err := all.Validate(checks.Default()); err != nil {
		t.Error(err)
	}
}

// Cases that could not be run, or not be told apart, are refused.
func TestWrongCases(t *testing.T) {
	good := Case{Name: "good", Text: "a case", Run: MustLine("--backend file-flock"), Expect: passes()}
	with := func(change func(*Case)) []Case {
		c := good
		change(&c)
		return []Case{c}
	}
	for want, cases := range map[string][]Case{
		"two cases have the name good":          {good, good},
		`"Good one" is not a valid name`:        with(func(c *Case) { c.Name = "Good one" }),
		`"" is not a valid name`:                with(func(c *Case) { c.Name = "" }),
		"the field `Text` of the case is empty": with(func(c *Case) { c.Text = "" }),
		"every run would meet it":               with(func(c *Case) { c.Expect = Expectation{} }),
		`unknown backend "redix"`:               with(func(c *Case) { c.Run.Backend = "redix" }),
		"has no server":                         with(func(c *Case) { c.Run.Nemesis = []string{"flush"} }),
		"unknown check \"alive\"":               with(func(c *Case) { c.Expect = fails("alive") }),
		"--clients 0: choose from":              with(func(c *Case) { c.Run.Clients = 0 }),
	} {
		if err := Validate(catalogue(), cases...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refused := good
	refused.Run.Nemesis, refused.Expect = []string{"flush"}, Expectation{Exit: codes{harness.ExitUsage}}
	if err := Validate(catalogue(), good, Case{
		Name: "refused", Text: "it must be", Run: refused.Run,
		Expect: refused.Expect,
	}); err != nil {
		t.Error(err)
	}
}

// A stored case with a field that nobody knows is refused: what it asks would be met by
// every run.
func TestMisspeltFieldsAreRefused(t *testing.T) {
	for _, text := range []string{
		`{"name": "a", "text": "b", "run": "--backend file-flock", "expcet": {"exit": [0]}}`,
		`{"name": "a", "text": "b", "run": "--backend file-flock", "expect": {"figures": {"grants": {"at_last": 1}}}}`,
		`{"name": "a", "text": "b", "run": "--backnd file-flock", "expect": {"exit": [0]}}`,
		`{"name": "a", "text": "b", "run": {"backnd": "file-flock"}, "expect": {"exit": [0]}}`,
	} {
		var c Case
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// A line that is wrong stops the program that has it in its source.
func TestMustLine(t *testing.T) {
	defer func() {
		if p, ok := recover().(string); !ok || !strings.HasPrefix(p, "suite: ") {
			t.Errorf("panic %v", p)
		}
	}()
	MustLine("--backed redis-lua")
}

// What is stored is the configuration itself, whatever is in it; versions before stored a line of flags.
func TestStoredRuns(t *testing.T) {
	want := Case{Name: "a", Text: "b", Run: harness.Defaults(), Expect: Expectation{Exit: codes{0}}}
	want.Run.Backend, want.Run.Arguments = harness.ExecBackend(`/it's a "ü"/lock.py`), []string{"", "two words", "--seed"}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Case
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v (%v)", got, want, err)
	}
	want.Run = MustLine("--backend redlock --nemesis flap --require liveness --seed 7 -- a b")
	err = json.Unmarshal(
		[]byte(
			`{"name":"a","text":"b","run":"--backend redlock --nemesis flap --require liveness --seed 7 -- a b","expect":{"exit":[0]}}`),
		&got)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v (%v)", got, want, err)
	}
}
