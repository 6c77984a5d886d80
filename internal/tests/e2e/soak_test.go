//go:build series

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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// soakLimit is how long one run may take: one that takes longer hangs.
const soakLimit = 90 * time.Second

// maxUnknown: one of so many runs may be inconclusive.
const maxUnknown = 10

// TestSeriesSoak runs pairs of backend and fault, drawn by a seed without repeating any before
// all were drawn: no process may be left, no heal may hang, and no verdict may contradict
// the table of docs/backends.md. SOAK_RUNS and SOAK_SEED change how many and which.
func TestSeriesSoak(t *testing.T) {
	runs, seed := setting.Number(t, "SOAK_RUNS", 200), setting.Number(t, "SOAK_SEED", 1)
	all := pairs(t)
	rnd := rand.New(rand.NewPCG(uint64(seed), 0)) // a seed
	var drawn []suite.Case
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
	for i, c := range drawn[:runs] {
		t.Run(fmt.Sprintf("%s/%d", c.Name, seed+i), func(t *testing.T) {
			t.Parallel()
			got := soak(t, c.Seeded(uint64(seed+i)))
			mu.Lock()
			defer mu.Unlock()
			tally[got]++
		})
	}
}

// pairs are those of the table, of which SOAK_ONLY names backends or faults.
func pairs(t *testing.T) []suite.Case {
	all := cases.Table(harness.New(stores.All()...))
	if names := os.Getenv("SOAK_ONLY"); names != "" {
		only := strings.Split(names, ",")
		all = slices.DeleteFunc(all, func(c suite.Case) bool {
			return !slices.Contains(only, c.Run.Backend) && !slices.Contains(only, c.Run.Nemesis[0])
		})
	}
	if len(all) == 0 {
		t.Fatal("there is nothing to run")
	}
	return all
}

// soak makes one run and says how it ended: in a word of the table, or unknown.
func soak(t *testing.T, c suite.Case) string {
	code, out, r := bounded(t, c, filepath.Join(t.TempDir(), "run"), soakLimit)
	got := string(suite.WordOf(r))
	if r.ExitCode == harness.ExitUnknown {
		got = string(checker.Unknown)
		t.Logf("%s: inconclusive\n%s", c.Name, out)
	}
	note(t, c, got)
	if c.Expect.Outcome == "" {
		t.Fatalf("the table says nothing about %s; it ended %s", c.Name, got)
	}
	if differ := c.Expect.Compare(code, r); len(differ) > 0 {
		t.Errorf("%s: %s\n%s", c.Name, suite.Sentences(differ), out)
	}
	return got
}

// bounded makes the run of a case, which must leave results, in the time that it may take.
func bounded(t *testing.T, c suite.Case, dir string, limit time.Duration) (code int, out string, r *checker.Results) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, slices.Concat([]string{"run"}, c.Run.Args(), []string{"--out", dir})...)
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("hangs: lockstorm run %s\n%s", c.Run.Line(), text)
	}
	nothingLeft(t, dir)
	code, r = cmd.ProcessState.ExitCode(), results(t, dir)
	if r == nil || code > harness.ExitUnknown {
		t.Fatalf("lockstorm run %s\nexit %d: %v\n%s", c.Run.Line(), code, err, text)
	}
	return code, string(text), r
}

// note appends the outcome to the file that SOAK_LOG names, for whoever makes the table.
func note(t *testing.T, c suite.Case, got string) {
	path := os.Getenv("SOAK_LOG")
	if path == "" {
		return
	}
	line, err := json.Marshal([]any{c.Run.Backend, c.Run.Nemesis[0], c.Run.Seed, got})
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
