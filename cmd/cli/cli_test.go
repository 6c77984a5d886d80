package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

func TestMain(m *testing.M) {
	harness.WorkerMain(harness.Default())
	os.Exit(m.Run())
}

// lockstorm runs the command line in this process.
func lockstorm(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(harness.Default(), State{Context: context.Background(), Name: "lockstorm", Args: args, Stdout: &out, Stderr: &errs})
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
		{"run", 3, `required flag(s) "backend" not set`},
		{"run --backend redis", 3, `unknown backend "redis": choose one of none`},
		{"run --backend redis-lua --nemesis meteor", 3, `unknown nemesis "meteor"`},
		{"run --backend redis-lua --nemesis client-pause:x=1", 3, "choose from at, nth, every, for, clients"},
		{"run --backend redis-lua --fencing on", 3, "issues no tokens"},
		{"run --backend redis-lua --ttl 0s", 3, "leases must live for a while"},
		{"run --backend redsync --nemesis server-restart:nodes=granted", 3, "does not say which servers granted"},
		{"run --backend redis-lua --wrong", 3, "unknown flag: --wrong"},
		{"run --backend redis-lua extra", 3, `unknown command "extra"`},
		{"run --backend file-flock --nemesis server-restart", 3, "has no server"},
		{"dance", 3, `unknown command "dance"`},
		{"list", 3, "list what? choose one of backends, nemeses, workloads, checks"},
		{"list frogs", 3, "list what?"},
		{"list backends", 0, "redis-watchdog"},
		{"list nemeses", 0, "for=1.5ttl: how long the fault lasts"},
		{"list workloads", 0, "before-write"},
		{"list checks", 0, "lock-linearizability"},
		{"list topologies", 0, "redis-single-aof"},
		{"doctor", 0, "ready: process"},
		{"doctor", 0, "clock shim"},
		{"check", 3, "requires at least 1 arg"},
		{"check /nowhere", 3, "no such file"},
		{"report /nowhere", 3, "not the directory of a run"},
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
	dir := filepath.Join(t.TempDir(), "run")
	code, out, errs := lockstorm(t, "run", "--backend", "none", "--time", "300ms", "--seed", "5", "--ttl=200ms", "--json", "--out", dir)
	var r checker.Results
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("stdout is not results.json: %v\n%s", err, out)
	}
	if code != 1 || r.Verdict != checker.Fail || r.Schema != 1 || r.Seed != 5 {
		t.Errorf("exit %d, results %+v", code, r)
	}
	first, _, _ := strings.Cut(errs, "\n")
	if want := "seed 5, again with: lockstorm run --backend none --time 300ms --ttl=200ms --json --seed 5"; first != want {
		t.Errorf("first line %q, want %q", first, want)
	}
	if !strings.HasSuffix(strings.TrimSpace(errs), "report: "+filepath.Join(dir, "report.html")) {
		t.Errorf("last line of %s", errs)
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
	dir := filepath.Join(t.TempDir(), "run")
	if code, out, errs := lockstorm(t, "run", "--backend", "file-flock", "--time", "300ms", "--ttl", "200ms", "--clients", "2", "--out", dir); code != 0 {
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
