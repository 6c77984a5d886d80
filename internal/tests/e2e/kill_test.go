//go:build series

package e2e

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness"
)

// kill -9 of the controller at a random moment of a run that passes, or fails: within two
// seconds nothing of the run is left, and what was recorded is judged as the whole record would
// be, or is unknown.
func TestControllerIsKilled(t *testing.T) {
	t.Parallel()
	backends := [][]string{
		{"--backend", "redis-lua", "--nemesis", "client-kill"},
		{"--backend", "file-flock", "--nemesis", "client-pause"},
		{"--backend", "redis-fenced", "--nemesis", "client-pause", "--fencing", "on"},
		{"--backend", "none", "--nemesis", "none"},
		{"--backend", "redis-lua", "--nemesis", "client-pause:at=before-write"},
	}
	const kills, failing = 50, 3       // the backends from here on
	rnd := rand.New(rand.NewPCG(1, 1)) // a seed
	for i := range kills {
		args := backends[i%len(backends)]
		after := time.Duration(rnd.Int64N(int64(2500 * time.Millisecond)))
		t.Run(args[1]+"/"+after.Round(time.Millisecond).String(), func(t *testing.T) {
			t.Parallel()
			defer turn(t, 0)()
			dir := filepath.Join(t.TempDir(), "run")
			cmd := exec.Command(binary, append(append([]string{"run"}, args...), "--time", "30s", "--out", dir)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-time.After(after) // the moment is what is tested: any will do
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() //nolint:errcheck // it was killed
			nothingLeft(t, dir)
			code, out := lockstorm(t, "check", dir)
			none := code == 3 && slices.ContainsFunc([]string{"is not a run directory", "no history", "does not exist"},
				func(why string) bool { return strings.Contains(out, why) })
			fails := code == 1 && i%len(backends) >= failing
			if code != 2 && !fails && !none {
				t.Errorf("check: exit %d\n%s", code, out)
			}
		})
	}
}

// A run under nohup outlives its terminal: SIGHUP does not end it, and it says its verdict.
func TestNohup(t *testing.T) {
	t.Parallel()
	defer turn(t, 0)()
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command("nohup", binary, "run", "--backend", "file-flock", "--nemesis", "none", "--time", "3s", "--out", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForGrant(t, dir)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()                                                       //nolint:errcheck // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 2 { // 2: the host was too busy to judge it
		t.Errorf("exit %d", code)
	}
	if r := results(t, dir); r == nil || r.Stats["grants"] == 0 {
		t.Errorf("results: %v", r)
	}
	nothingLeft(t, dir)
}

// SIGINT and SIGTERM: exit 130, nothing left, and what was recorded is kept.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) { // these tests run under nohup: what they start shall not
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			cmd := exec.Command(binary, "run", "--backend", "redis-lua", "--nemesis", "client-pause", "--time", "30s", "--out", dir)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			defer turn(t, 0)()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitForGrant(t, dir)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() //nolint:errcheck // the exit code says it
			if code := cmd.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit %d, want 130", code)
			}
			nothingLeft(t, dir)
			r := results(t, dir)
			if r == nil && strings.Contains(out.String(), "The record is kept") { // a busy host had not the time to judge it
				if code, said := lockstorm(t, "check", dir); code > harness.ExitUnknown {
					t.Fatalf("check: exit %d\n%s", code, said)
				}
				return
			}
			if r == nil {
				t.Fatalf("what was recorded was not judged:\n%s", out.String())
			}
			if r.Stats["grants"] == 0 || r.ExitCode == 0 {
				t.Errorf("%d grants, exit code on record %d", r.Stats["grants"], r.ExitCode)
			}
		})
	}
}
