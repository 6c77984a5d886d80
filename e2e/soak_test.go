//go:build soak

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/docs/expect"
	"github.com/lockstorm/lockstorm/harness"
)

// soakLimit is how long one run may take: one that takes longer hangs.
const soakLimit = 90 * time.Second

// maxUnknown: one of so many runs may be inconclusive.
const maxUnknown = 10

// pair is a backend under a fault.
type pair struct{ backend, fault string }

// TestSoak runs pairs of backend and fault, drawn by a seed without repeating any before
// all were drawn: no process may be left, no heal may hang, and no verdict may contradict
// the table of docs/backends.md. SOAK_RUNS and SOAK_SEED change how many and which.
func TestSoak(t *testing.T) {
	runs, seed := number(t, "SOAK_RUNS", 200), number(t, "SOAK_SEED", 1)
	all := pairs(t)
	rnd := rand.New(rand.NewPCG(uint64(seed), 0)) // a seed
	var drawn []pair
	for len(drawn) < runs {
		rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		drawn = append(drawn, all...)
	}
	var mu sync.Mutex
	tally := map[string]int{}
	t.Cleanup(func() {
		t.Logf("%d runs over %d pairs: %v", runs, len(all), tally)
		if tally["unknown"]*maxUnknown > runs {
			t.Errorf("%d of %d runs are inconclusive: too many to have measured anything", tally["unknown"], runs)
		}
	})
	for i, p := range drawn[:runs] {
		t.Run(fmt.Sprintf("%s/%s/%d", p.backend, p.fault, seed+i), func(t *testing.T) {
			t.Parallel()
			got := p.run(t, seed+i)
			mu.Lock()
			defer mu.Unlock()
			tally[got]++
		})
	}
}

// pairs are those that can work on the backend's default topology.
func pairs(t *testing.T) []pair {
	cat := harness.Default()
	var out []pair
	for _, b := range cat.Backends.All() {
		for _, f := range cat.Nemeses.All() {
			if only := os.Getenv("SOAK_ONLY"); only != "" && !slices.Contains(strings.Split(only, ","), b.Name) && !slices.Contains(strings.Split(only, ","), f.Name) {
				continue
			}
			if harness.Possible(cat, b.Name, f.Name) == nil {
				out = append(out, pair{b.Name, f.Name})
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("there is nothing to run")
	}
	return out
}

func (p pair) run(t *testing.T, seed int) string {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithTimeout(context.Background(), soakLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "run", "--backend", p.backend, "--nemesis", p.fault, "--seed", strconv.Itoa(seed), "--out", dir)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("hangs:\n%s", out)
	}
	nothingLeft(t, dir)
	if code := cmd.ProcessState.ExitCode(); code > 2 {
		t.Fatalf("exit %d: %v\n%s", code, err, out)
	}
	r := results(t, dir)
	got := string(expect.Of(r))
	if r.ExitCode == 2 {
		got = "unknown"
		t.Logf("%s under %s: inconclusive\n%s", p.backend, p.fault, out)
	}
	p.note(t, seed, got)
	want, ok := expect.For(p.backend, p.fault)
	if !ok {
		t.Fatalf("the table says nothing about %s under %s; it ended %s", p.backend, p.fault, got)
	}
	if err := want.Check(r); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return got
}

// note appends the outcome to the file that SOAK_LOG names, for whoever makes the table.
func (p pair) note(t *testing.T, seed int, got string) {
	path := os.Getenv("SOAK_LOG")
	if path == "" {
		return
	}
	line, err := json.Marshal([]any{p.backend, p.fault, seed, got})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // checked by the write
	if _, err := f.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}
