package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
)

// A history of another tool is judged, or refused with its line.
func TestCheckModel(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	event := func(typ, f, process, value string) string {
		return "{:type :" + typ + ", :f :" + f + ", :process " + process + ", :value " + value + "}\n"
	}
	once := event("invoke", "acquire", "1", "nil") + event("ok", "acquire", "1", "{:fence 3}")
	again := event("invoke", "acquire", "2", "nil") + event("ok", "acquire", "2", "{:fence 3}")
	release := event("invoke", "release", "1", "nil") + event("ok", "release", "1", "nil")
	good, bad, token := file("good", once+release+again), file("bad", once+again), file("token", once+release+again)
	keyed := file("keyed", event("invoke", "write", "1", "[a 1]")+event("ok", "write", "1", "[a 1]")+event("invoke", "read", "2",
		"[b nil]")+event("ok", "read", "2", "[b 7]"))
	wrong := file("wrong", event("invoke", "cas", "1", "3")+event("ok", "cas", "1", "3"))
	nemesis := file("nemesis", event("info", "start", ":nemesis", "nil"))
	failed := file("failed", event("invoke", "acquire", "1", "nil")+event("fail", "acquire", "1", "nil"))
	// Each of 30 releases that nobody knows of may have let one of 31 acquires in, but not one more.
	many, grants := "", ""
	for i := range 32 {
		if i < 30 {
			many += event("invoke", "release", fmt.Sprint("r", i), "nil") + event("info", "release", fmt.Sprint("r", i), "nil")
		}
		grants += event("invoke", "acquire", fmt.Sprint(i), `"u"`) + event("ok", "acquire", fmt.Sprint(i), `{:client "c", :uid "u"}`)
	}
	many = file("many", many+grants)
	for _, tc := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"--model", "mutex", nemesis, good}, 2, []string{"inconclusive: nothing to judge", "pass: linearizable as mutex"}},
		{[]string{"--model", "mutex", nemesis, bad}, 1, []string{"inconclusive: nothing to judge", "violation: not linearizable"}},
		{[]string{"--model", "mutex", failed}, 2, []string{"inconclusive: nothing to judge"}},
		{[]string{"--model", "mutex", many}, 1, []string{
			"no short proof: lockstorm found only that 32 of the 62 operations have no order. The last 20, which decide:\n              " +
				"    acquire by process 12 (client c)",
			`acquire by process 31 (client c), value "u" -> {"client":"c","uid":"u"} (lines 123 to 124)`,
		}},
		{[]string{"--model", "mutex", good}, 0, []string{
			"EDN, 3 operations by 2 processes", "pass: linearizable as mutex",
			"leases count as never ending, because the history does not say",
		}},
		{[]string{"--model", "mutex", bad}, 1, []string{
			`acquire by process 2, value {"fence":3} (lines 3 to 4) is impossible: before this operation the lock is held`,
			"these 2 operations", "violation: not linearizable as mutex",
		}},
		{[]string{"--model", "fenced-mutex", token}, 1, []string{"the lock is free, and the highest token is 3"}},
		{[]string{"--model", "register", "--independent", keyed}, 1, []string{
			"key b: read by process 2, value 7", "the value is nil",
			"1 of 2 keys",
		}},
		{[]string{"--model", "mutex", good, bad}, 1, []string{"pass: linearizable", "violation: not linearizable"}},
		{[]string{"--model", "register", wrong}, 3, []string{"wrong: line 2: cas of process 1: the value of a cas invocation must " +
			"have the form [expected new]"}},
		{[]string{"--model", "register", good}, 3, []string{
			`line 1: model register has no operation "acquire": its operations are cas`,
		}},
		{[]string{"--model", "mutx", good}, 3, []string{`unknown model "mutx": use one of mutex`}},
		{[]string{"--model", "semaphore", good}, 3, []string{"--model semaphore:permits=3"}},
		{[]string{"--model", "mutex", dir}, 3, []string{"the argument is a directory"}},
		{[]string{"--model", "mutex", filepath.Join(dir, "none")}, 3, []string{"no such file"}},
		{[]string{"--independent", good}, 3, []string{"add --model"}},
	} {
		code, out, errs := lockstorm(t, append([]string{"check"}, tc.args...)...)
		for _, want := range tc.want {
			if code != tc.code || !strings.Contains(out+errs, want) {
				t.Errorf("check %v: exit %d, want %d and %q in\n%s%s", tc.args, code, tc.code, want, out, errs)
			}
		}
	}
	code, out, _ := lockstorm(t, "check", "--model", "mutex", "--json", bad)
	var r modelResult
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 1 || r.ExitCode != 1 || len(r.Objects) != 1 ||
		r.Objects[0].Line != 3 || len(r.Objects[0].Proof) != 2 || !r.Objects[0].Minimal {
		t.Errorf("%d, %+v, %v", code, r, err)
	}
}

// A run is exported, and what is read back is judged as the run was.
func TestExport(t *testing.T) {
	t.Parallel()
	dir := violated(t)
	file := filepath.Join(t.TempDir(), "history.edn")
	if code, out, errs := lockstorm(t, "export", dir, "--out", file); code != 0 ||
		!strings.Contains(errs, "check --model mutex "+file) {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if code, out, errs := lockstorm(t, "check", "--model", "mutex", file); code != harness.ExitViolation {
		t.Errorf("%d %s %s", code, out, errs)
	}
	code, out, _ := lockstorm(t, "export", filepath.Join(dir, "history.jsonl"), "--as", "porcupine")
	var ops []map[string]any
	if err := json.Unmarshal([]byte(out), &ops); err != nil || code != 0 || len(ops) < 10 || ops[0]["Call"] == nil {
		t.Errorf("%d, %d operations, %v", code, len(ops), err)
	}
	for _, args := range [][]string{{dir, "--as", "text"}, {filepath.Join(dir, "nothing")}, {filepath.Join(dir, "results.json")}} {
		if code, _, errs := lockstorm(t, append([]string{"export"}, args...)...); code != harness.ExitUsage {
			t.Errorf("export %v: %d %s", args, code, errs)
		}
	}
}
