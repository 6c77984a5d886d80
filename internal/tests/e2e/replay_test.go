//go:build series

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// determined are runs whose outcome hangs on points, not on races: one injection each.
var determined = []string{
	"--backend redis-lua --nemesis client-pause:at=before-write,clients=c2,every=10s --time 3s",
	"--backend redis-fenced --nemesis client-pause:at=before-write,every=10s --fencing on --time 3s",
	"--backend redis-setnx --nemesis client-kill:at=before-write,every=10s --time 2s",
	"--backend redis-setnx-expire --nemesis client-kill:at=between-setnx-and-expire,every=10s --time 2s",
	"--backend redis-lua --nemesis server-restart:at=acquired,every=10s --ttl 3s --time 3s",
	"--backend redis-lua --nemesis evict:at=acquired,every=10s --time 3s",
	"--backend redis-lua --nemesis packet-delay:at=before-write,every=10s --time 3s",
	"--backend redis-watchdog --nemesis client-stall:at=before-write,every=10s --time 3s",
	"--backend file-excl --nemesis client-kill:at=before-write,every=10s --time 2s",
	"--backend file-flock --nemesis client-pause:at=before-write,every=10s --time 3s",
	"--backend redlock --nemesis clock-jump:at=acquired,nodes=3,every=10s --time 3s",
}

// replayAttempts is how often a run and its replay are made where a busy host came between: whom it held up, and
// for how long, is not in the plan.
const replayAttempts = 3

// A saved run is made again by the same plan, and ends with the same verdicts and rules.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, args := range determined {
		t.Run(strings.Fields(args)[1]+"-"+strings.Fields(args)[3], func(t *testing.T) {
			t.Parallel()
			var differs string
			for try := range replayAttempts {
				done := turn(t, try)
				differs = replayDiffers(t, args)
				if done(); differs == "" {
					return
				}
				t.Log(differs)
			}
			t.Errorf("%d times in a row: %s", replayAttempts, differs)
		})
	}
}

// replayDiffers makes a run and makes it again, and says how the two ended differently.
func replayDiffers(t *testing.T, args string) string {
	t.Helper()
	first, again := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "again")
	code, out := carryOut(t, append(strings.Fields("run --seed 5 "+args), "--out", first)...)
	if code > 2 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	replayed, text := carryOut(t, "replay", first, "--out", again)
	if a, b := read(t, first, "plan.json"), read(t, again, "plan.json"); !bytes.Equal(a, b) {
		t.Errorf("another plan: %s\n%s", a, b)
	}
	nothingLeft(t, again)
	if code == 2 {
		return "the first run is inconclusive:\n" + out
	}
	if replayed != code || !strings.Contains(text, "1 of 1 runs ended like") {
		return fmt.Sprintf("exit %d, and %d the first time:\n%s", replayed, code, text)
	}
	return ""
}

// What cannot be replayed says why.
func TestReplayRefuses(t *testing.T) {
	dir := t.TempDir()
	trial := filepath.Join(dir, "trial.json")
	for content, want := range map[string]string{
		"":               "it is not a run directory",
		"{":              "unexpected end of JSON",
		`{"schema": 99}`: "this version of lockstorm reads only schema 1",
		`{"schema": 1}`:  "has no field \"plan\"",
		`{"schema":1,"config":{"backend":"melted","provider":"auto","fencing":"both","discipline":"obey","workload":"counter","clients":1,"locks":1,"time_ns":1000000000},"plan":{}}`:                                               "unknown backend",
		`{"schema":1,"config":{"backend":"redis-lua","provider":"auto","fencing":"both","discipline":"obey","workload":"counter","clients":1,"locks":1,"time_ns":1000000000},"plan":{"requests":[{"fault":"melt","spec":"melt"}]}}`: "belongs to another configuration",
	} {
		if content != "" {
			if err := os.WriteFile(trial, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if code, out := lockstorm(t, "replay", dir); code != 3 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, want 3 and %q:\n%s", content, code, want, out)
		}
		os.Remove(trial) //nolint:errcheck // it need not be there
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
