package adapters_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// asLockstorm is the variable by which this binary is the program.
const asLockstorm = "ADAPTERS_TEST_LOCKSTORM"

func program() {
	if os.Getenv(asLockstorm) != "" {
		os.Exit(cli.Main(&suite.Collection{Catalogue: catalogue()}, cli.State{
			Context: context.Background(), Name: "lockstorm", Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr,
		}))
	}
}

// Two locks on a server that their adapter brings: the one that deletes blindly fails where the one with cas passes.
// A holder sleeps before its release until another one holds the lock for a while. What a busy host makes inconclusive says
// nothing about them.
func TestServersOfAnAdapter(t *testing.T) {
	t.Parallel()
	for _, k := range []kept{
		{"python/memcached_lock.py", harness.ExitViolation},
		{"python/memcached_cas_lock.py", harness.ExitPass},
	} {
		t.Run(k.words, func(t *testing.T) {
			t.Parallel()
			code, out := run(t, k.words, "--nemesis", "client-pause:at=before-release,until=granted,for=4ttl", "--workload",
				"counter:hold=0.3ttl", "--time", "8s", "--fail-on", "defect")
			if code != k.exit && code != harness.ExitUnknown || !strings.Contains(out, " on memcached (process)") {
				t.Errorf("exit %d\n%s", code, out)
			}
		})
	}
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "run")
		code, out := run(t, "python/memcached_cas_lock.py", "--nemesis", "server-pause:for=300ms", "--nemesis", "server-restart",
			"--nemesis", "partition-client", "--time", "5s", "--out", dir)
		h, err := history.ReadFile(filepath.Join(dir, history.File))
		if err != nil {
			t.Fatalf("exit %d, %v\n%s", code, err, out)
		}
		rec, err := history.Build(h)
		if err != nil {
			t.Fatal(err)
		}
		took := map[string]bool{}
		for _, f := range rec.Faults {
			took[f.Fault.Fault] = took[f.Fault.Fault] || f.Effective()
		}
		if len(took) != 3 || !took["server-pause"] || !took["server-restart"] || !took["partition-client"] {
			t.Errorf("%v\n%s", took, out)
		}
		v := rec.Run.Versions
		if !strings.HasPrefix(v["memcached"], "memcached 1.") || v["data of the servers"] != "lost by a restart" {
			t.Errorf("versions %v", v)
		}
	})
}

// An adapter, its server's program and the run are in folders with blanks. The controller is killed, SERVER_KILLS times: what
// its server has started in a session of its own ends, too.
func TestControllerOfServersIsKilled(t *testing.T) {
	t.Parallel()
	here := filepath.Join(t.TempDir(), "with a blank")
	python := ownStore(t, here)
	for n := range setting.Number(t, "SERVER_KILLS", 1) {
		took := killsController(t, here, filepath.Join(here, fmt.Sprint("run ", n+1)), python)
		if t.Failed() {
			return
		}
		t.Logf("kill %d: nothing was left after %v", n+1, took.Round(time.Millisecond))
	}
}

// ownStore writes an adapter and its server's program into a folder, and says where the adapters are that it imports.
func ownStore(t *testing.T, here string) (python string) {
	t.Helper()
	for name, text := range map[string]string{
		"my store": `#!/bin/sh
setsid memcached -l 127.0.0.1 -p "$(cat "$1")" -U 0 -u nobody &
wait
`,
		"my lock.py": `#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.environ["ADAPTERS"])
import lockstorm, memcached_cas_lock
class Lock(memcached_cas_lock.CasLock):
    ABOUT = {**memcached_cas_lock.CasLock.ABOUT, "servers": [{
        "name": "store", "files": {"a port": "{port}"},
        "command": [os.path.dirname(os.path.abspath(__file__)) + "/my store", "{dir}/a port"]}]}
lockstorm.serve(Lock())
`,
	} {
		if err := os.MkdirAll(here, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(here, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	python, err := filepath.Abs("python")
	if err != nil {
		t.Fatal(err)
	}
	return python
}

// killsController kills a run once it has a grant, and says after how long nothing of it was left.
func killsController(t *testing.T, here, dir, python string) time.Duration {
	t.Helper()
	cmd := exec.Command(os.Args[0], "run", "--backend", "exec:cmd="+filepath.Join(here, "my lock.py"), "--nemesis", "none",
		"--clients", "2", "--time", "5m", "--seed", "1", "--out", dir)
	cmd.Env = append(os.Environ(), asLockstorm+"=1", "ADAPTERS="+python)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, 3*time.Minute, func() string { // Python and its server may be slow to start, and one client to be granted the lock
		for _, client := range []string{"c1", "c2"} {
			b, err := history.ReadLog(filepath.Join(dir, "logs", client+".jsonl"))
			if err == nil && strings.Contains(string(b), `"type":"ok","f":"acquire"`) {
				return ""
			}
		}
		return "no grant"
	})
	if live := strings.Join(in(t, here), ", "); !strings.Contains(live, " memcached -l ") {
		t.Errorf("the server is not among the processes that live: %s", live)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	cmd.Wait() //nolint:errcheck // it was killed
	await(t, 5*time.Second-time.Since(killed), func() string { return strings.Join(in(t, here), ", ") })
	if t.Failed() {
		t.Log(out.String())
	}
	return time.Since(killed)
}

// await waits until nothing is said any more.
func await(t *testing.T, limit time.Duration, still func() string) {
	t.Helper()
	for end := time.Now().Add(limit); ; <-time.After(10 * time.Millisecond) {
		what := still()
		if what == "" {
			return
		}
		if time.Now().After(end) {
			t.Errorf("after %v: %s", limit, what)
			return
		}
	}
}

// in are the processes whose working directory or command is in a folder.
func in(t *testing.T, dir string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		line, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil {
			continue // it is gone
		}
		cwd, _ := os.Readlink(filepath.Join(p, "cwd")) // likewise
		if strings.Contains(string(line)+cwd, dir) {
			found = append(found, p+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// A server of an adapter on a topology of lockstorm: faults strike it, its links, and the servers below with all that these can.
func TestServersOnATopology(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"leader-isolate":            "links between two sides are cut",
		"quorum-loss:mode=cut":      "no server reports itself as leader",
		"server-kill:nodes=front-1": "front-1 died of SIGKILL",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			for try := 1; ; try++ { // on a busy host nobody may be elected in time
				code, out := run(t, "testdata/fronted_etcd.py", "--nemesis", fault, "--ttl", "2s", "--time", "8s")
				told := strings.Contains(strings.Join(strings.Fields(out), " "), want)
				if told && (code == harness.ExitPass || code == harness.ExitUnknown) {
					return
				}
				if code != harness.ExitUnknown || try == 3 {
					t.Fatalf("exit %d\n%s", code, out)
				}
			}
		})
	}
}
