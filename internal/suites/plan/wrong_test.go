package plan_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// What is wrong is named with its line, and the way out.
var wrong = map[string][]string{
	"":                       {"is empty", "init"},
	"name: x\n":              {"neither the key `axes` nor the key `include`"},
	"nam: x\naxes: {}\n":     {"s.yaml:1: unknown key `nam`"},
	"axes:\n  backend: [x\n": {"s.yaml:"},
	"axes: 3\n":              {"s.yaml:1: the value has the wrong form: write flags of lockstorm run"},
	"axes:\n  backend: redis-lua\n  nemesis: [none, client-pauze]\n": {
		"s.yaml:3:", "client-pauze", "did you mean",
	},
	"axes:\n  backend: redis-lua\n  nemeses: none\n": {
		"s.yaml:3: unknown key `nemeses`",
	},
	"axes:\n  backend: redis-lua\n  seed: 3\n": {
		"s.yaml:3:", "key `seeds`",
	},
	"axes:\n  backend: redis-lua\n  ttl: [1s, fast]\n": {
		"s.yaml:3:", "fast",
	},
	"axes:\n  backend: []\n": {
		"s.yaml:2: the key `backend` has no values",
	},
	"axes:\n  backend: redis-lua\n  backend: redsync\n": {
		"s.yaml:3:", "appears twice",
	},
	"axes:\n  nemesis: none\n": {
		"s.yaml:2: the key `backend` is missing under `axes`",
	},
	"axes:\n  backend: file-flock\n  nemesis: flush\n": {
		"s.yaml:3: file-flock/flush:",
	},
	"axes:\n  backend: redis-lua\n  clients: [[1, 2]]\n": {
		"s.yaml:3: the key `clients` takes one value",
	},
	"seeds: 0\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: seed \"0\"",
	},
	"seeds: 100000\naxes: {backend: redis-lua}\n": {
		"s.yaml:1:", "at most 1000",
	},
	"budget: soon\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: the key `budget` has the value \"soon\"",
	},
	"missing: maybe\naxes: {backend: redis-lua}\n": {
		"s.yaml:1:", "choose fail or skip",
	},
	"axes: {backend: redis-lua}\nexclude:\n  - {nemesis: flap}\n": {
		"s.yaml:3: no cell matches `nemesis: flap`",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - of: {backend: redsync}\n    outcome: safe\n": {
		"s.yaml:3: no cell matches `backend: redsync`",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - of: {colour: red}\n    outcome: safe\n": {
		"s.yaml:3: unknown key `colour`",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - outcome: save\n": {
		"s.yaml:3: unknown outcome \"save\"",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - checks: {mutual-exclusion: maybe}\n": {
		"s.yaml:3: maybe is not a possible expectation for check mutual-exclusion",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - checks: {mutual: safe}\n": {
		"s.yaml:3: unknown check \"mutual\"",
	},
	"axes: {backend: redis-lua}\nthresholds:\n  - acquire.p98 < 1s\n": {
		"s.yaml:3:", `did you mean "acquire.p99"?`,
	},
	"axes: {backend: redis-lua}\ncoverage: {backends: redsync}\n": {
		"s.yaml:2: `coverage` requires the backend redsync",
	},
	"axes: {backend: redis-lua}\ncoverage: {nemeses: flap}\n": {
		"s.yaml:2: `coverage` requires the nemesis flap",
	},
	"axes: {backend: redis-lua}\ncoverage: {exposures: none}\n": {
		"s.yaml:2: the key `exposures` has the value \"none\"",
	},
	"include:\n  - cases: everything\n": {
		"s.yaml:2:", "choose one of",
	},
	"include:\n  - cases: published\n    only: late-dell\n": {
		"s.yaml:3: the set of cases published has no case named",
	},
	"include:\n  - cases: published\n    run: {backend: redis-lua}\n": {
		"s.yaml:2: this entry of `include` has both",
	},
	"include:\n  - name: x\n": {
		"s.yaml:2:", "add one of the keys `cases`, `run`, `axes` and `trial`",
	},
	"include:\n  - explore: {for: soon}\n    run: {backend: file-flock}\n": {
		"s.yaml:2: the key `for` has the value \"soon\": write how long to search",
	},
	"include:\n  - explore: {for: 5s, only: meteor}\n    run: {backend: file-flock}\n": {
		"s.yaml:2: explore: unknown nemesis \"meteor\"",
	},
	"include:\n  - explore: {fro: 5s}\n    run: {backend: file-flock}\n": {
		"s.yaml:2: unknown key `fro` under `explore`",
	},
	"include:\n  - explore: {for: 2s}\n    run: {backend: file-flock}\n": {
		"s.yaml:2: the search is too short: no run of file-flock can end within 2s",
	},
	"include:\n  - explore: 5s\n    run: {backend: file-flock}\n": {
		"s.yaml:2: `explore` needs keys and values",
	},
	"include:\n  - explore: {}\n    trial: nowhere\n": {
		"s.yaml:3: an entry of `include` with the key `trial` repeats a saved run",
	},
	"include:\n  - explore: {for: 5s}\n    run: {backend: file-flock, nemesis: client-pause}\n": {
		"s.yaml:2: a search chooses its faults: remove `nemesis`",
	},
	"include:\n  - explore: {for: 5s, only: server-restart}\n    run: {backend: file-flock}\n": {
		"s.yaml:2: explore: `only` and `without` leave no fault that can be injected",
	},
	"include:\n  - explore: {for: 5s}\n    cases: claims\n": {
		"s.yaml:2: an entry of `include` with the key `explore` needs the key `run` with a backend",
	},
	"include:\n  - trial: nowhere\n": {
		"s.yaml:2: trial: open nowhere/trial.json",
	},
	"include:\n  - trial: nowhere\n    run: {backend: file-flock}\n": {
		"s.yaml:2: an entry of `include` with the key `trial` repeats a saved run",
	},
	"include:\n  - {name: a, axes: {backend: [redis-lua, redsync]}}\n": {
		"s.yaml:2: two cells have the name a",
	},
	"include:\n  - {name: \"{backed}\", axes: {backend: redis-lua}}\n": {
		"s.yaml:2: \"{backed}\" is not a valid name",
	},
	"include:\n  - axes: {nemesis: none}\n": {
		"s.yaml:2: the key `run` names no backend",
	},
	"include:\n  - explore: {for: 5s}\n    axes: {backend: file-flock}\n": {
		"s.yaml:2: an entry of `include` has either `explore` or `axes`",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - exit: none\n": {
		"s.yaml:3: the key `exit` has the value \"none\"",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - exit: 6\n": {
		"s.yaml:1: redis-lua/none:", "no run ends with the exit code 6",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - {exit: any}\n": {
		"s.yaml:1: redis-lua/none:", "the expectation is empty",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - figures: grants > 1\n": {
		"s.yaml:3: \"grants > 1\" is not a limit of a figure",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - figures: wait_p99_ns <= 5\n": {
		"s.yaml:3:", "missing unit",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - classes: {mutual: defect}\n": {
		"s.yaml:1: redis-lua/none:", "unknown check \"mutual\"",
	},
	"compare: true\naxes: {backend: [redis-lua, redsync]}\nexpect:\n  - exit: 0\n": {
		"s.yaml:4: a suite with `compare: true` has no expected outcomes",
	},
	"include:\n  - run: {nemesis: none}\n": {
		"s.yaml:2: the key `run` names no backend",
	},
	"include:\n  - {name: Bad Name, run: {backend: redis-lua}}\n  - {name: x, run: {backend: redis-lua}}\n": {
		"s.yaml:2:", "Bad Name",
	},
	"include:\n  - {name: x, run: {backend: redis-lua}}\n  - {name: x, run: {backend: redsync}}\n": {
		"s.yaml:3: two cells have the name x",
	},
	"include:\n  - {run: {backend: redis-lua}, of: {backend: redis-lua}}\n": {
		"s.yaml:2: the key `of` is allowed only in entries of `expect`",
	},
	"name: ../../x\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: name", "must not contain /",
	},
	"name: .x\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: name", "or start with a dot",
	},
	"name: ''\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: the key `name` has no value",
	},
	"name: \"a\\e[2Jb\"\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: the key `name` contains an invisible character ('\\x1b')",
	},
	"doc: \"a\\u202eb\"\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: the key `doc` contains an invisible character ('\\u202e')",
	},
	"seeds: [1, 1, 1]\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: seed 1 is listed twice",
	},
	"include:\n  - {run: {backend: redis-lua}, seeds: [3, 4, 3]}\n": {
		"s.yaml:2: seed 3 is listed twice",
	},
	"compare: maybe\naxes: {backend: redis-lua}\n": {
		"s.yaml:1: the key `compare` has the value \"maybe\"",
	},
	"compare: true\naxes: {backend: [redis-lua, redsync]}\nexpect:\n  - outcome: safe\n": {
		"s.yaml:4: a suite with `compare: true` has no expected outcomes",
	},
	"axes: {backend: redis-lua, nemesis: client-pause}\nexpect:\n  - of: {nemesis: client-puase}\n    outcome: safe\n": {
		"s.yaml:3: no cell matches `nemesis: client-puase` (did you mean \"client-pause\"?)",
	},
	"axess: {backend: redis-lua}\n": {
		"s.yaml:1: unknown key `axess` (did you mean axes?)",
	},
	"- a\n- b\n": {
		"s.yaml:1: a list is not allowed here: write keys and values",
	},
	"axes: {backend: redis-lua}\nexpect:\n  - {outcom: safe}\n": {
		"s.yaml:3: unknown key `outcom` (did you mean outcome?)",
	},
	"axes: {backend: redis-lua, nemsis: none}\n": {
		"s.yaml:1: unknown key `nemsis`: did you mean \"nemesis\"?",
	},
	"axes: {backend: redis-lua}\n---\naxes: {backend: redsync}\n": {
		"more than one YAML document",
	},
	"include:\n  - {run: {backend: redis-lua, nemesis: [none, flap]}, outcome: documented}\n": {
		"s.yaml:2:", "several faults at once",
	},
	"axes: {backend: all, nemesis: all, clients: [2, 3, 4, 5, 6, 7], locks: [1, 2, 3], fencing: [both, 'on', 'off']}\n": {
		"more than 5000 cells",
	},
}

// What is wrong is said once: that a rule is about no cell follows from the name that nobody knows.
func TestWhatFollowsIsNotSaid(t *testing.T) {
	t.Parallel()
	f, err := plan.Read("s.yaml", []byte("axes: {backend: redis-lau}\nexclude:\n  - {nemesis: flap}\nexpect:\n  - of: {backend: "+
		"redis-lua}\n    outcome: safe\ncoverage: {backends: redis-lua}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Cells(cases.Suites(harness.New(stores.All()...)))
	if err == nil || strings.Count(err.Error(), "s.yaml:") != 1 || !strings.Contains(err.Error(), "s.yaml:1:") {
		t.Errorf("%v", err)
	}
}

func TestWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, wants := range wrong {
		f, err := plan.Read("s.yaml", []byte(text))
		if err == nil {
			_, err = f.Cells(cases.Suites(harness.New(stores.All()...)))
		}
		if err == nil {
			t.Errorf("%q is taken", text)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v\nwant %q", text, err, want)
			}
		}
	}
}
