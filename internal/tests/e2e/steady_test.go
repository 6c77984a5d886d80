//go:build series

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// TestSeriesSteady runs the gate of this project STEADY_RUNS times (50), every second time beside spinning
// loops, or with STEADY_LOADED=all every time: no cell changes between what was expected and what was not,
// and of the loaded runs no more than one in 25 has an inconclusive cell. A run that is not as it must
// be is kept, and named.
func TestSeriesSteady(t *testing.T) {
	runs := setting.Number(t, "STEADY_RUNS", 50)
	inconclusive, loaded := 0, 0
	var slowest [2]time.Duration
	for n := range runs {
		busy := n % 2
		if os.Getenv("STEADY_LOADED") == "all" {
			busy = 1
		}
		r, out := steadyRun(t, busy == 1)
		slowest[busy] = max(slowest[busy], r.Wall)
		loaded += busy
		open := 0
		for _, c := range r.Cells {
			switch c.Status {
			case gate.Expected:
			case gate.Inconclusive:
				open++
				fmt.Printf("run %d, loaded %v: %s is inconclusive: %v\n", n, busy == 1, c.Name, c.Why)
			default:
				t.Errorf("run %d (loaded: %v): %s is %s: %v", n, busy == 1, c.Name, c.Status, c.Why)
			}
		}
		if r.ExitCode != 0 {
			fmt.Printf("run %d is kept: %s\n", n, out)
		} else if err := os.RemoveAll(filepath.Dir(out)); err != nil {
			t.Error(err)
		}
		fmt.Printf("run %d, loaded %v: exit %d, %s, %v, %.1f at once\n", n, busy == 1, r.ExitCode, r.Verdict, r.Wall.Round(time.Second),
			r.Parallel())
		switch {
		case open > 0 && busy == 0:
			t.Errorf("run %d: %d cells are inconclusive, with nothing beside it", n, open)
		case open > 0:
			inconclusive++
		}
	}
	if inconclusive*25 > max(loaded, 25) {
		t.Errorf("%d of %d loaded runs have an inconclusive cell", inconclusive, loaded)
	}
	fmt.Printf("%d runs; slowest %v, loaded %v; %d of %d loaded ones inconclusive\n", runs, slowest[0].Round(time.Second),
		slowest[1].Round(time.Second), inconclusive, loaded)
}

func steadyRun(t *testing.T, busy bool) (r *gate.SuiteResults, out string) {
	t.Helper()
	if busy {
		defer spin(t)()
	}
	parent, err := os.MkdirTemp("", "steady-")
	if err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(parent, "gate")
	cmd := exec.Command(binary, "suite", "ci", "--out", out)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err = cmd.Run()
	r, rerr := gate.ReadResults(out)
	if rerr != nil {
		t.Fatalf("%v (%v)\n%s", rerr, err, text.String())
	}
	nothingLeft(t, out)
	return r, out
}
