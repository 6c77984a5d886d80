//go:build series

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

const killed = `
name: killed
seeds: 3
run: {ttl: 500ms, time: 2s}
axes:
  backend: [redis-lua, file-flock]
  nemesis: [none, client-pause]
expect:
  - {of: {nemesis: client-pause}, outcome: mostly}
include:
  - {name: bad, run: {backend: none, nemesis: client-pause, time: 4s}}
`

// kill -9 of a suite in the middle: nothing of it lives on, what has ended is judged, a violation among it
// is not masked by what was not run; and it can be gone on with.
func TestSuiteIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "killed.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(killed), 0o644); err != nil {
		t.Fatal(err)
	}
	done := part(t, heavy)
	cmd := exec.Command(binary, "suite", file, "--out", out, "--jobs", "3")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(out, "runs", "bad", "seed-1", "outcome.json")
	for end := time.Now().Add(time.Minute); ; { // the longest runs come first: some are left then
		if _, err := os.Stat(bad); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the suite does not get on")
		}
		<-time.After(10 * time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // it was killed
	nothingLeft(t, out)
	done()

	code, text := lockstorm(t, "merge", out, "--out", out)
	if code != 1 || !strings.Contains(text, "violation: bad") || !strings.Contains(text, "not run") {
		t.Errorf("merged what is there: exit %d\n%s", code, text)
	}
	before, err := gate.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	code, text = lockstorm(t, "suite", file, "--out", out, "--resume")
	if code != 1 || strings.Contains(text, "not run") {
		t.Errorf("gone on: exit %d\n%s", code, text)
	}
	after, err := gate.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Outcomes) < 4 || len(after.Outcomes) < 3+5*3 {
		t.Errorf("%d runs before, %d after", len(before.Outcomes), len(after.Outcomes))
	}
	nothingLeft(t, out)
}

// A worse lock in the place of one that the gate of this project knows turns it red, and the page says why.
func TestAPlantedBugTurnsTheGateRed(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	code, text := lockstorm(t, "suite", "smoke", "--replace", "redis-fenced=redis-fenced:retries=0", "--out", out)
	if code != 0 && code != 2 {
		t.Errorf("the same lock in its place: exit %d\n%s", code, text)
	}
	out = filepath.Join(t.TempDir(), "out")
	code, text = lockstorm(t, "suite", "smoke", "--replace", "redis-lua=redis-setnx", "--out", out)
	page, err := os.ReadFile(filepath.Join(out, matrix.IndexFile))
	if code != 1 || err != nil || !strings.Contains(string(page), "liveness") {
		t.Errorf("a lock that never comes back: exit %d (%v)\n%s", code, err, text)
	}
}
