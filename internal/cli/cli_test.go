package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

func TestMain(m *testing.M) {
	harness.WorkerMain(harness.New(stores.All()...))
	// What is missing here must not depend on which images Docker has.
	if err := os.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock"); err != nil {
		panic(err)
	}
	os.Exit(withCache(m.Run))
}

// withCache runs tests with an own cache of timings.
func withCache(run func() int) int {
	cache, err := os.MkdirTemp("", "lockstorm-cache-")
	if err == nil {
		err = os.Setenv("XDG_CACHE_HOME", cache)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(cache) //nolint:errcheck // a directory of a test
	return run()
}

// lockstorm runs the command line in this process.
func lockstorm(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(cases.Suites(harness.New(stores.All()...)), State{
		Context: context.Background(), Name: "lockstorm", Args: args,
		Stdout: &out, Stderr: &errs,
	})
	return code, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	tests := []struct {
		args string
		code int
		want string // in stdout or stderr
	}{
		{"--help", 0, "Exit codes: 0 pass, 1 violation"},
		{"run --help", 0, "--fencing"},
		{"--version", 0, "lockstorm "},
		{"run", 3, "--backend NAME is missing"},
		{"run --backend redis", 3, `unknown backend "redis": choose one of none`},
		{"run --backend redis-lua --nemesis meteor", 3, `unknown nemesis "meteor"`},
		{"run --backend redis-lua --nemesis client-pause:x=1", 3, "choose from at, nth, message, every, for, until, while, clients"},
		{"run --backend redis-lua --fencing on", 3, "issues no fencing tokens"},
		{"run --backend redis-lua --ttl 0s", 3, "a lease needs a time to live"},
		{"run --backend redis-lua --nemesis server-restart:nodes=granted", 3, "does not report which servers granted"},
		{"run --backend redis-lua --wrong", 3, "unknown flag: --wrong"},
		{"run --backend redis-lua extra", 3, `"extra" is not a flag`},
		{"run redis-lua", 3, "did you mean --backend redis-lua?"},
		{"run --backend redis-lau", 3, `did you mean "redis-lua"?`},
		{"run --backend redis-lua --nemesis client-puase", 3, `did you mean "client-pause"?`},
		{"run --backend redis-lua --nemesis client-pause:evry=1s", 3, `did you mean "every"?`},
		{"run --backend redis-lua --backend redis-del", 3, `--backend "redis-del": this flag is given twice`},
		{"run --bakend redis-lua", 3, "unknown flag --bakend: did you mean --backend?"},
		{"run --backend redis-lua --time 99999999h", 3, "--time 99999999h: the duration is too long"},
		{"run --backend redis-lua --nemesis client-pause:for=0s", 3, "for= must be greater than 0"},
		{"run --backend sql-for-update --register postgres", 3, "backend sql-for-update writes the data in its own " +
			"transaction"},
		{"run --backend etcd-election --workload try", 3, "which backend etcd-election cannot"},
		{"run --backend zk-rwlock --workload reentrant", 3, "backend zk-rwlock is read-write"},
		{"run --backend redis-lua --workload two-locks", 3, "this workload needs two locks: use --locks 2"},
		{"run --backend redis-lua --workload job:mark=maybe", 3, "mark=maybe: choose no, after or before"},
		{"run --backend redis-lua --nemesis kill-connection", 3, "backend redis-lua on topology redis-single has no grants that " +
			"end with their connection"},
		{"run --backend sql-lease-row --nemesis promote-replica", 3, "postgres has no replica that lockstorm could promote"},
		// Plans, parameters and waits are bounded.
		{"run --backend redis-lua --nemesis client-pause:every=1ns --time 3s", 3, "every=1ns would inject the fault 3000000000 times " +
			"in a run of 3s, but the limit is 100000"},
		{"run --backend redis-lua --nemesis chaos:every=1ns --time 3s", 3, "every=1ns would inject up to"},
		{"run --backend redis-lua --workload counter:hold=1h --ttl 1s --time 2s", 3, "can take 5h0m"},
		{"run --backend redis-lua --ttl 10h", 3, "--ttl 10h0m0s is too long: the maximum is 10m0s"},
		{"run --backend redis-lua --time 100h", 3, "--time 100h0m0s is too long"},
		{"run --backend redis-lua --nemesis client-pause:for=infttl", 3, "for=infttl is too long: the maximum is 24h0m0s"},
		{"run --backend redis-lua --nemesis client-pause:for=nanttl", 3, "for=nanttl is not a length"},
		{"run --backend redis-lua --nemesis client-pause:for=1e30ttl", 3, "for=1e30ttl is too long"},
		// What would be passed over in silence is refused.
		{
			"run --backend redis-lua --nemesis client-pause:at=waiting,at=acquired", 3,
			`parameter "at" of nemesis client-pause is given twice`,
		},
		{"run --backend redis-lua --nemesis client-pause:clients=c1+c1", 3, "c1 is named twice"},
		{"run --backend redis-lua --nemesis client-pause:", 3, "has nothing after its colon"},
		{"run --backend redis-lua --require=", 3, "--require needs the name of a check"},
		// Values are named with what they should be, and whose they are.
		{"run --backend redis-lua --clients two", 3, `--clients "two": the value must be a whole number`},
		{"run --backend redis-lua --seed -1", 3, `--seed "-1": the value must be a whole number, 0 or more`},
		{"run --backend redis-lua --json=maybe", 3, `--json "maybe": the value must be true or false`},
		{"run --backend redis-lua --ttl soon", 3, `--ttl "soon": the value must be a duration`},
		{"run --backend redis-lua --workload counter:hold=abc", 3, "workload counter: hold=abc is not a length"},
		{"run --backend redis-lua --workload counter:try=2", 3, "workload counter: try=2 is not a number from 0 to 1"},
		{"run --backend redis-lua --nemesis chaos:every=-1s", 3, "nemesis chaos: every=-1s is not a length"},
		{"run --backend redis-lua --nemesis chaos:only=chaos", 3, "chaos cannot inject chaos"},
		// A fault says how long the run must be, and that is enough.
		{"run --backend redis-sentinel --nemesis failover-kill --time 9s", 3, "use --time 9.9s or longer"},
		{"run --backend redis-sentinel --topology redis-sentinel --provider embedded", 3, "no embedded server for"},
		{"completion bash", 0, "bash completion"},
		{"__complete run --backend redis-l", 0, "redis-lua"},
		{"__complete run --nemesis client-p", 0, "client-pause"},
		{"run --backend file-flock --nemesis server-restart", 3, "has no server"},
		{"dance", 3, `unknown command "dance"`},
		{"list", 3, "say what to list: one of backends, nemeses, workloads, checks"},
		{"list frogs", 3, "say what to list"},
		{"list fault", 3, `did you mean "faults"?`},
		{"rnu", 3, `unknown command "rnu": did you mean "run"?`},
		{"run --backend exec", 3, "write --backend exec:cmd=FILE"},
		{"run --backend exec:./lock.py", 3, "write cmd=./lock.py"},
		{"run --backend redis-lua --nemesis client-pause:at=before-wirte", 3, `did you mean "before-write"?`},
		{"list backends", 0, "redis-watchdog"},
		{"list nemeses", 0, "of one: lockstorm list nemeses NAME"},
		{"list faults client-pause", 0, "for=1.5ttl    how long each injection lasts"},
		{"list workloads counter", 0, "before-write"},
		{"list backends redis-lua", 0, "runs on redis-single"},
		{"list backends redis-luo", 3, `did you mean "redis-lua"? (or: redis-del) see: list backends`},
		{"list checks", 0, "lock-linearizability"},
		{"list topologies", 0, "redis-single-aof"},
		{"doctor", 0, "ready: process"},
		{"doctor", 0, "clock shim"},
		{"check", 3, "requires at least 1 arg"},
		{"check /nowhere", 3, "/nowhere does not exist"},
		{"report /nowhere", 3, "it is not a run directory"},
	}
	for _, tc := range tests {
		t.Run(tc.args, func(t *testing.T) {
			code, out, errs := lockstorm(t, strings.Fields(tc.args)...)
			if code != tc.code || !strings.Contains(out+errs, tc.want) {
				t.Errorf("exit %d, want %d and %q\nstdout: %s\nstderr: %s", code, tc.code, tc.want, out, errs)
			}
			if strings.Contains(out+errs, "panic") {
				t.Error("it panicked")
			}
		})
	}
}

// What this machine lacks and another one has is no wrong usage.
func TestWhatIsMissingHere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for args, want := range map[string]string{
		"run --backend redis-lua --nemesis evict": "redis-server is not on PATH (Debian: apt-get install " +
			"redis-server)",
		"run --backend redis-lua --nemesis clock-jump":              "redis-server is not on PATH",
		"run --backend redis-sentinel --nemesis none":               "redis-server is not on PATH",
		"run --backend redis-lua --provider process --nemesis none": "redis-server is not on PATH",
		"run --backend zk-sequential --nemesis none": "java is not on PATH (Debian: apt-get install zookeeper " +
			"default-jre-headless libslf4j-java)",
		"run --backend etcd-mutex --provider process": "etcd is not on PATH (Debian: apt-get install etcd-server)",
	} {
		if code, out, errs := lockstorm(t, strings.Fields(args)...); code != harness.ExitEnvironment || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, want 4 and %q\n%s%s", args, code, want, out, errs)
		}
	}
	// And what no machine has is.
	for _, args := range []string{"run --backend redis-lua --provider embedded --nemesis evict", "run --backend file-flock " +
		"--nemesis evict"} {
		if code, _, errs := lockstorm(t, strings.Fields(args)...); code != harness.ExitUsage {
			t.Errorf("%s: exit %d, want 3\n%s", args, code, errs)
		}
	}
}

// A violation is not masked by what cannot be read or written beside it.
func TestCheckOfSeveral(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	if code, out, errs := lockstorm(t, "run", "--backend", "none", "--time", "300ms", "--ttl=200ms", "--out", dir); code != 1 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	code, out, errs := lockstorm(t, "check", "--json", "/nonexistent", dir)
	var all []checker.Results
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 || all[0].Verdict != checker.Fail {
		t.Errorf("%v in %s", err, out)
	}
	if code != harness.ExitViolation || !strings.Contains(errs, "/nonexistent") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if code, _, _ := lockstorm(t, "check", "/nonexistent"); code != harness.ExitUsage {
		t.Errorf("exit %d, want 3", code)
	}
}

// A panic has a code of its own, which says nothing of a lock, and tells what to report.
func TestPanic(t *testing.T) {
	var errs bytes.Buffer
	a := &App{cat: harness.New(stores.All()...), st: State{Name: "lockstorm", Stderr: &errs}}
	if code := a.guarded(func() error { panic("the moon") }); code != harness.ExitPanic ||
		!strings.Contains(errs.String(), "the moon") || !strings.Contains(errs.String(), "cli_test.go") {
		t.Errorf("exit %d\n%s", code, errs.String())
	}
}

// The live line never wraps, and a dumb terminal has none.
func TestLiveLine(t *testing.T) {
	var out bytes.Buffer
	v := newView(State{Stderr: &out, Terminal: true, Width: 20})
	v.progress().Tick(time.Second, 10*time.Second, harness.Seen{Grants: 123456, Overlaps: 7})
	if text := out.String(); len(text) != 19 {
		t.Errorf("%q has %d columns", text, len(text))
	}
}

func TestListJSON(t *testing.T) {
	for _, kind := range []string{"backends", "nemeses", "workloads", "checks", "topologies"} {
		_, out, _ := lockstorm(t, "list", kind, "--json")
		var items []struct{ Name, Doc string }
		if err := json.Unmarshal([]byte(out), &items); err != nil || len(items) == 0 || items[0].Doc == "" {
			t.Errorf("%s: %v in %s", kind, err, out)
		}
	}
	_, out, _ := lockstorm(t, "doctor", "--json")
	var items []usable
	if err := json.Unmarshal([]byte(out), &items); err != nil || len(items) < 3 {
		t.Errorf("doctor: %v in %s", err, out)
	}
}

// The whole way: run, read results.json from stdout, judge the file again, render again.
func TestRunCheckReport(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	code, out, errs := lockstorm(t, "run", "--backend", "none", "--time", "300ms", "--seed", "5", "--ttl=200ms", "--json", "--out",
		dir)
	var r checker.Results
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("stdout is not results.json: %v\n%s", err, out)
	}
	if !strings.HasSuffix(r.Command, "run --backend none --time 300ms --ttl=200ms --json --seed 5") {
		t.Errorf("command on record: %q", r.Command)
	}
	if code != 1 || r.Verdict != checker.Fail || r.Schema != 1 || r.Seed != 5 {
		t.Errorf("exit %d, results %+v", code, r)
	}
	first, _, _ := strings.Cut(errs, "\n")
	if want := "seed 5; to repeat this run: lockstorm run --backend none --time 300ms --ttl=200ms --json --seed 5"; first != want {
		t.Errorf("first line %q, want %q", first, want)
	}
	if end := "report: " + filepath.Join(dir, "report.html") + "\nagain:  lockstorm run --backend none --time 300ms --ttl=200ms " +
		"--json --seed 5"; !strings.HasSuffix(strings.TrimSpace(errs), end) {
		t.Errorf("last lines of %s, want %s", errs, end)
	}
	for _, path := range []string{dir, filepath.Join(dir, "history.jsonl")} {
		code, out, _ = lockstorm(t, "check", path)
		if code != 1 || !strings.Contains(out, "VIOLATION: mutual-exclusion, lock-linearizability, data-plain") {
			t.Errorf("check %s: exit %d\n%s", path, code, out)
		}
	}
	if code, out, _ = lockstorm(t, "report", dir); code != 0 || !strings.Contains(out, "report.html") {
		t.Errorf("report: exit %d, %s", code, out)
	}
}

// A damaged history is never a pass and never a crash.
func TestCheckOfDamagedHistories(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	if code, out, errs := lockstorm(t, "run", "--backend", "file-flock", "--time", "300ms", "--ttl", "200ms", "--clients", "2",
		"--out", dir); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	b, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	middle := len(lines) / 2
	edit := func(f func([]string) []string) string { return strings.Join(f(append([]string(nil), lines...)), "") }
	damaged := map[string]string{
		"deleted line": edit(func(l []string) []string { return append(l[:middle], l[middle+1:]...) }),
		"cut off":      edit(func(l []string) []string { return l[:len(l)-1] }),
		"cut in half":  edit(func(l []string) []string { return l[:middle] }),
		"swapped":      edit(func(l []string) []string { l[middle], l[middle+1] = l[middle+1], l[middle]; return l }),
		"doubled":      edit(func(l []string) []string { return append(l[:middle+1], l[middle:]...) }),
		"garbage":      edit(func(l []string) []string { l[middle] = "garbage\n"; return l }),
		"torn":         string(b[:len(b)-5]),
		"first line":   lines[0],
		"headless":     edit(func(l []string) []string { return l[1:] }),
		"empty":        "",
		"after end":    string(b) + "garbage",
		"binary":       "\x00\xff\x01\n\x00\n",
	}
	for name, text := range damaged {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.jsonl")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, errs := lockstorm(t, "check", path)
			if code != 2 && code != 3 {
				t.Errorf("exit %d\n%s%s", code, out, errs)
			}
			if code == 3 && !strings.Contains(errs, "history") {
				t.Errorf("unclear error: %s", errs)
			}
		})
	}
}

// broken is a standard output that ends.
type broken struct {
	after int
	err   error
}

func (b *broken) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, b.err
	}
	return len(p), nil
}

// An output that cannot be written changes no verdict; where there is none, it is an error of its own. That nobody reads
// any more, as behind `| head`, is not told: the exit code is that of other programs.
func TestOutputThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	short := " --nemesis none --time 300ms --ttl 300ms --out "
	for name, c := range map[string]struct {
		line, out string
		err       error
		want      int // where there is no verdict
	}{
		"list, disk full": {"list backends", "", syscall.ENOSPC, harness.ExitEnvironment},
		"list, head":      {"list nemeses", "", syscall.EPIPE, 141},
		"run, disk full":  {"run --backend none" + short + filepath.Join(dir, "a"), filepath.Join(dir, "a"), syscall.ENOSPC, 0},
		"run, head":       {"run --backend file-flock" + short + filepath.Join(dir, "b"), filepath.Join(dir, "b"), syscall.EPIPE, 0},
	} {
		var errs bytes.Buffer
		code := Main(cases.Suites(harness.New(stores.All()...)),
			State{Context: t.Context(), Name: "lockstorm", Args: strings.Fields(c.line), Stdout: &broken{10, c.err}, Stderr: &errs})
		if c.out != "" {
			r, err := harness.ReadResults(c.out)
			if err != nil {
				t.Fatal(err)
			}
			c.want = r.ExitCode
		}
		told := strings.Contains(errs.String(), "write standard output")
		if code != c.want || told != errors.Is(c.err, syscall.ENOSPC) || strings.Contains(errs.String(), "--help") {
			t.Errorf("%s: exit %d, want %d\n%s", name, code, c.want, errs.String())
		}
	}
}

// passed is the directory of a run that passes; on a busy host it may take some.
func passed(t *testing.T) (dir string) {
	t.Helper()
	for range 10 {
		dir = filepath.Join(t.TempDir(), "run")
		code, _, errs := lockstorm(t, "run", "--backend", "file-flock", "--nemesis", "none", "--time", "500ms", "--ttl", "300ms",
			"--out", dir)
		if code == harness.ExitPass {
			return dir
		}
		if code != harness.ExitUnknown {
			t.Fatalf("exit %d\n%s", code, errs)
		}
	}
	t.Fatal("no run of ten passes")
	return ""
}

// A history that lost lines says that the logs beside it have them, and how to make it anew; logs of one run are
// not judged one by one.
func TestCheckLooksAtTheLogs(t *testing.T) {
	t.Parallel()
	dir := passed(t)
	path := filepath.Join(dir, "history.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if code, out, _ := lockstorm(t, "check", dir); code != 0 || strings.Contains(out, "disagree") {
		t.Errorf("whole: exit %d\n%s", code, out)
	}
	if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := lockstorm(t, "check", dir)
	if code != harness.ExitUnknown || !strings.Contains(out, "history.jsonl and the logs in logs/ disagree") ||
		!strings.Contains(out, "remove "+path) {
		t.Errorf("cut: exit %d\n%s", code, out)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := lockstorm(t, "check", dir); code != 0 {
		t.Errorf("made anew: exit %d\n%s", code, out)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "logs", "*.jsonl"))
	if err != nil || len(logs) < 2 {
		t.Fatal(logs, err)
	}
	if code, _, errs := lockstorm(t, append([]string{"check"}, logs...)...); code != harness.ExitUsage ||
		!strings.Contains(errs, "to judge the whole run, use lockstorm check "+dir) {
		t.Errorf("logs: exit %d\n%s", code, errs)
	}
}

// A cache that cannot be written is no error: it is elsewhere, and that is said.
func TestACacheThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", file)
	t.Setenv("TMPDIR", t.TempDir())
	code, _, errs := lockstorm(t, "run", "--backend", "none", "--nemesis", "none", "--time", "300ms", "--ttl", "300ms", "--out",
		filepath.Join(t.TempDir(), "run"))
	if code == harness.ExitEnvironment || !strings.Contains(errs, "the cache directory of this user is not writable") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}

// A directory behind -- would go to the backend, and the run would be found nowhere.
func TestOutBehindDashes(t *testing.T) {
	for _, out := range []string{"--out=x", "--out x"} {
		args := append([]string{"run", "--backend", "exec:cmd=lock.py", "--", "--depth", "2"}, strings.Fields(out)...)
		code, _, errs := lockstorm(t, args...)
		if code != harness.ExitUsage || !strings.Contains(errs, "--out is after --") {
			t.Errorf("%s: exit %d: %s", out, code, errs)
		}
	}
}
