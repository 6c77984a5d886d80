package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// quick is a suite of seconds that needs no server; %s is what must come of the lock.
const quick = `
name: quick
run: {time: 500ms, ttl: 300ms, clients: 2}
axes: {backend: file-flock}
`

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// inCI runs the command line with an environment.
func inCI(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(cases.Suites(harness.New(stores.All()...)), State{
		Context: context.Background(), Name: "lockstorm", Args: args, Stdout: &out, Stderr: &errs,
		Env: func(name string) string { return env[name] },
	})
	return code, out.String(), errs.String()
}

// A lock that is as it should be is green; a worse one in its place is red, and says why to whoever asks.
func TestASuiteIsGreenAndRed(t *testing.T) {
	t.Parallel()
	file, dir := written(t, quick), t.TempDir()
	code, out, errs := lockstorm(t, "suite", file, "--out", filepath.Join(dir, "green"))
	if code != 0 || !strings.Contains(out, "1 cell: 1 as expected; report: ") ||
		!strings.Contains(errs, "quick: 1 cell and 3 controls, 4 runs") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	summary := filepath.Join(dir, "summary.md")
	env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary}
	code, out, errs = inCI(t, env, "suite", file, "--replace", "file-flock=none", "--out", filepath.Join(dir, "red"))
	if code != 1 || !strings.Contains(out, "::error title=lockstorm%3A file-flock/none::violation: seed 1: ") ||
		!strings.Contains(out, "run --backend none") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if b, err := os.ReadFile(summary); err != nil || !strings.Contains(string(b), "**violation** file-flock/none") {
		t.Errorf("%s (%v)", b, err)
	}
	code, out, _ = lockstorm(t, "compare", filepath.Join(dir, "green"), filepath.Join(dir, "red"))
	if code != 0 || !strings.Contains(out, "new violation: file-flock/none: the outcome is defect (before: safe)") {
		t.Errorf("exit %d\n%s", code, out)
	}
	code, out, _ = lockstorm(t, "compare", filepath.Join(dir, "green"), filepath.Join(dir, "red"), "--fail")
	if code != 1 || !strings.Contains(out, "new violation: file-flock/none: the outcome is defect (before: safe)") {
		t.Errorf("compare --fail: exit %d\n%s", code, out)
	}
	if code, out, _ = lockstorm(t, "compare", filepath.Join(dir, "red"), filepath.Join(dir, "green"), "--fail"); code != 0 {
		t.Errorf("compare --fail of what was mended: exit %d\n%s", code, out)
	}
	code, out, _ = lockstorm(t, "suite", file, "--baseline", filepath.Join(dir, "green", "results.json"), "--out",
		filepath.Join(dir, "again"))
	if code != 0 || !strings.Contains(out, "at least 20 %): 0") {
		t.Errorf("exit %d\n%s", code, out)
	}
	code, out, _ = lockstorm(t, "merge", filepath.Join(dir, "red"), "--out", filepath.Join(dir, "merged"), "--json")
	var r gate.SuiteResults
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 1 || r.ExitCode != 1 {
		t.Errorf("exit %d, %v\n%s", code, err, out)
	}
}

// A lock that should fail and passes is a surprise as well, and so is a threshold that is missed. On a host that is busy all the
// time nobody can tell why nothing failed, and the suite says so.
func TestSurprises(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		quick + "expect: [{outcome: violated}]\n":  "unexpectedly",
		quick + "thresholds: [grants > 1000000]\n": "the threshold grants > 1000000 is not met (measured: ",
	} {
		code, out, errs := lockstorm(t, "suite", written(t, text), "--out", filepath.Join(t.TempDir(), "out"))
		disturbed := code == harness.ExitUnknown && strings.Contains(out, "the host disturbed the run")
		missed := code == gate.ExitMissed && (want == "unexpectedly" || strings.Contains(out, want))
		if !missed && !disturbed {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}
}

// The baseline is written for the first time, and makes known what it has.
func TestBaselineIsWritten(t *testing.T) {
	t.Parallel()
	file, dir := written(t, strings.Replace(quick, "file-flock", "none", 1)), t.TempDir()
	baseline := filepath.Join(dir, "baseline.json")
	for n, want := range []int{1, 0} {
		code, out, errs := lockstorm(t, "suite", file, "--baseline", baseline, "--update-baseline", "--out",
			filepath.Join(dir, string(rune('a'+n))))
		if code != want {
			t.Errorf("run %d: exit %d\n%s%s", n, code, out, errs)
		}
	}
}

func TestSuiteUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	file, pipe := written(t, quick), filepath.Join(full, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"suite"}, 3, "no suite file and no preset has the name lockstorm.yaml"},
		{[]string{"init", "-"}, 0, "\naxes:"},
		{[]string{"init"}, 0, "wrote lockstorm.yaml: review the file"},
		{[]string{"init"}, 3, "already exists"},
		{[]string{"suite", "--list"}, 0, "redis-fenced/client-pause"},
		{
			[]string{"suite", "cii"},
			3,
			"presets: cells, ci, claims, databases, ensembles, full, libraries, network, power, published, smoke",
		},
		{[]string{"suite", "ci", "--print"}, 0, "name: ci"},
		{[]string{"suite", "ci", "--print-matrix", "3"}, 0, `"2/3"`},
		{[]string{"suite", "--schema"}, 0, `"$schema"`},
		{[]string{"suite", written(t, "axes: {backend: redis-lau}\n"), "--list"}, 3, `did you mean "redis-lua"`},
		{[]string{"suite", file, "--jobs", "-1"}, 3, "--jobs -1: the value must be a whole number, 1 or more"},
		{[]string{"suite", file, "--jobs", "0"}, 3, "--jobs 0: the value must be a whole number, 1 or more"},
		{[]string{"suite", file, "--retry", "-1"}, 3, "--retry -1: the value must be a whole number, 0 or more"},
		{[]string{"suite", file, "--max-failures", "0"}, 3, "--max-failures 0: the value must be a whole number, 1 or more"},
		{[]string{"suite", file, "--budget", "-5s"}, 3, "--budget -5s: the value must be a duration above 0"},
		{[]string{"suite", file, "--print-matrix", "0"}, 3, "--print-matrix 0: the value must be a whole number, 1 or more"},
		{[]string{"suite", file, "--print", "--list"}, 3, "choose one of these flags"},
		{[]string{"suite", file, "--seeds", "0"}, 3, "--seeds 0: write 5 (for the seeds 1 to 5)"},
		{[]string{"suite", file, "--seeds", "9-6"}, 3, "--seeds 9-6: write 5 (for the seeds 1 to 5)"},
		{[]string{"suite", file, "--seeds", "1,4,1"}, 3, "listed twice"},
		{[]string{"suite", file, "--seeds", "6-10", "--list"}, 0, "5 seeds"},
		{[]string{"suite", file, "--list"}, 0, "1 cell and 3 controls, 4 runs"},
		{[]string{"suite", "/dev/zero"}, 3, "/dev/zero is a device"},
		{[]string{"suite", pipe}, 3, "is a named pipe"},
		{[]string{"suite", full}, 3, "is a directory"},
		{[]string{"suite", "-"}, 3, "- is empty"},
		{[]string{"suite", file, "--baseline", "/dev/zero"}, 3, "/dev/zero is a device"},
		{[]string{"compare", pipe, pipe}, 3, "is a named pipe"},
		{[]string{"suite", file, "--shard", "4/3"}, 3, "--shard 4/3: write NUMBER/COUNT"},
		{[]string{"suite", file, "--replace", "x"}, 3, "write OLD=NEW"},
		{[]string{"suite", file, "--replace", "redsync=redis-lua"}, 3, "no cell of the suite has the backend redsync"},
		{[]string{"suite", file, "--baseline", "nowhere.json"}, 3, "to write a new baseline file, add --update-baseline"},
		{[]string{"suite", file, "--update-baseline"}, 3, "needs --baseline"},
		{[]string{"suite", file, "--out", full}, 3, "is not empty"},
		{[]string{"suite", file, "--resume"}, 3, "--resume needs --out"},
		{[]string{"suite", file, "--resume", "--out", full}, 3, "is not the directory of a suite"},
		{[]string{"merge"}, 3, "requires at least 1 arg"},
		{[]string{"merge", full}, 3, "--out DIR is missing"},
		{[]string{"merge", full, "--out", filepath.Join(full, "y")}, 3, "is not the directory of a suite"},
		{[]string{"merge", full, "--out", full}, 3, "is not the directory of a suite"},
		{[]string{"compare", full, full}, 3, "cannot read the results.json of a suite"},
	} {
		code, out, errs := lockstorm(t, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%v: exit %d, want %d and %q\n%s%s", c.args, code, c.code, c.want, out, errs)
		}
	}
}

// A suite of no cells, or of cells that were all skipped, has judged nothing, and is not green.
func TestNothingJudged(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		quick + "exclude: [{backend: '*'}]\n": "0 cells; nothing was judged: the suite has no cells",
		"impossible: skip\nrun: {time: 500ms}\naxes: {backend: file-flock, nemesis: server-restart}\n": "1 cell: 1 skipped; nothing " +
			"was judged: every cell was skipped",
	} {
		code, out, errs := lockstorm(t, "suite", written(t, text), "--out", filepath.Join(t.TempDir(), "out"))
		if code != harness.ExitUnknown || !strings.Contains(out, want) {
			t.Errorf("exit %d, want 2 and %q\n%s%s", code, want, out, errs)
		}
	}
}

// A worse lock in the place of a good one is red, and everybody who is told quotes the finding that made it so:
// the root cause of the class that nobody expected, not the first of those that the good lock has as well. That is the first
// foreign release; where the store refused its victim just then, only the lock object may show it.
func TestTheRightFindingIsQuoted(t *testing.T) {
	t.Parallel()
	file := written(t, "seeds: 3\nrun: {ttl: 1s, time: 6s}\naxes: {backend: redis-lua, nemesis: client-pause}\nexpect: [{outcome: "+
		"inherent}]\n")
	for try := 0; ; try++ {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md")}
		code, text, errs := inCI(t, env, "suite", file, "--replace", "redis-lua=redis-del", "--out", out)
		shown := freed(t, out)
		if len(shown) == 0 && try < 3 {
			continue // a busy host: they came too late to free anything
		}
		if code != harness.ExitViolation || len(shown) == 0 {
			t.Fatalf("exit %d, foreign releases in %v\n%s%s", code, shown, text, errs)
		}
		terminal, annotation, _ := strings.Cut(text, "::error")
		told := map[string]string{"terminal": terminal, "annotation": annotation}
		for name, path := range map[string]string{
			"summary": env["GITHUB_STEP_SUMMARY"], "junit": filepath.Join(out, matrix.JUnitFile),
			"markdown": filepath.Join(out, matrix.MarkdownFile), "page": filepath.Join(out, matrix.IndexFile),
		} {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			told[name] = string(b)
		}
		for _, seed := range shown {
			quoted := regexp.MustCompile(fmt.Sprintf(`(?s)seed %d.{0,400}?(`+
				`ownership \(defect\): the store carried out the release of grant \S+ by \S+ at .{0,300}?freed another client|`+
				`lock-linearizability \(defect\): lock L1 was released by a client that no longer held it)`, seed))
			for name, text := range told {
				if !quoted.MatchString(text) {
					t.Errorf("%s does not quote the foreign release of seed %d:\n%s", name, seed, text)
				}
			}
		}
		return
	}
}

// freed are the seeds of that suite in which a client freed what another one held.
func freed(t *testing.T, out string) (seeds []int) {
	t.Helper()
	for seed := 1; seed <= 3; seed++ {
		r, err := harness.ReadResults(filepath.Join(out, "runs", "redis-lua", "client-pause", fmt.Sprintf("seed-%d", seed)))
		if err != nil {
			t.Fatal(err)
		}
		if r.Checks[checker.Ownership].Verdict == checker.Fail {
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// A comparison expects nothing: it ends with 0 whatever the locks do, and says which one to choose.
func TestAComparison(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	file := written(t, "compare: true\nseeds: 2\nrun: {time: 500ms, ttl: 300ms, clients: 2}\naxes: {backend: [none, file-flock]}\n")
	code, out, errs := lockstorm(t, "suite", file, "--out", dir)
	if code != 0 || !strings.Contains(out, "2 cells: 2 measured") ||
		!strings.Contains(out, "group 1  file-flock had no violation in 2 runs without faults") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	for name, want := range map[string]string{
		matrix.IndexFile: "Which lock?", matrix.MarkdownFile: "| file-flock |",
		matrix.CSVFile: "lost_updates_fenced,",
	} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s has no %q (%v)", name, want, err)
		}
	}
}
