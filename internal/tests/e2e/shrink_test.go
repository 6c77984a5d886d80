//go:build series

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/explore"
)

// A run with faults that have nothing to do with its violation is made smaller, and its smallest trial is replayed.
func TestShrink(t *testing.T) {
	t.Parallel()
	var text string
	for range 3 { // on a busy host a violation may not show nearly every time
		first, out := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "shrunk")
		args := "run --backend redis-lua --nemesis client-pause:at=before-write --nemesis packet-delay --ttl 500ms --clients 4 " +
			"--time 3s --seed 2 --out " + first
		code, said := lockstorm(t, strings.Fields(args)...)
		if code != harness.ExitViolation {
			text = said
			continue
		}
		code, said = lockstorm(t, "shrink", first, "--out", out, "--runs", "28", "--rate", "2")
		if text = said; code == harness.ExitUnknown {
			continue
		}
		var s explore.Shrunk
		if err := json.Unmarshal(read(t, out, "shrunk/shrunk.json"), &s); err != nil || code != harness.ExitPass {
			t.Fatalf("exit %d, %v\n%s", code, err, said)
		}
		if s.After.Steps == 0 || s.After.Steps >= s.Before.Steps || s.After.Time >= s.Before.Time || s.Runs > 28 {
			t.Errorf("%+v\n%s", s, said)
		}
		if r := results(t, filepath.Join(out, "shrunk")); r == nil || !s.Target.Shows(r) {
			t.Errorf("the run that stays does not show %s", s.Target)
		}
		if code, said := lockstorm(t, "replay", filepath.Join(out, "shrunk"), "--out",
			filepath.Join(t.TempDir(), "again")); code > harness.ExitUnknown {
			t.Errorf("exit %d\n%s", code, said)
		}
		nothingLeft(t, filepath.Join(out, "shrunk"))
		return
	}
	t.Errorf("three times in a row:\n%s", text)
}
