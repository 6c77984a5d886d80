//go:build series

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// TestSeriesBusyHost runs locks that are right, under faults that do them no harm, beside four spinning loops: the
// host may make a run inconclusive, never a violation. BUSY_SEEDS changes the number of seeds.
func TestSeriesBusyHost(t *testing.T) {
	defer spin(t)()
	for _, s := range []struct {
		line  string
		seeds int
		shows bool // most runs pass; of a hundred clients some starve
	}{
		{"--backend redis-lua --clients 100 --nemesis flap", 20, false},
		{"--backend redis-lua", 30, true},
		{"--backend redis-watchdog --nemesis client-stall", 30, true},
		{"--backend redlock --nemesis server-kill:nodes=2", 30, true},
		{"--backend file-flock --nemesis client-kill", 30, true},
	} {
		run, seeds := suite.MustLine(s.line), setting.Number(t, "BUSY_SEEDS", s.seeds)
		var mu sync.Mutex
		codes := map[int]int{}
		t.Run(s.line, func(t *testing.T) {
			for seed := 1; seed <= seeds; seed++ {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					t.Parallel()
					dir := filepath.Join(t.TempDir(), "run")
					c := suite.Case{Run: run}.Seeded(uint64(seed))
					code, out := lockstorm(t, slices.Concat([]string{"run"}, c.Run.Args(), []string{"--out", dir})...)
					if code != harness.ExitPass && code != harness.ExitUnknown {
						t.Errorf("lockstorm run %s\nexit code %d\n%s", c.Run.Line(), code, out)
					}
					nothingLeft(t, dir)
					mu.Lock()
					defer mu.Unlock()
					codes[code]++
				})
			}
		})
		if s.shows && codes[harness.ExitPass]*2 < seeds {
			t.Errorf("%s: %d of %d runs passed: too few to have shown anything", s.line, codes[harness.ExitPass], seeds)
		}
		fmt.Printf("%s: %d of %d passed, %d inconclusive\n", s.line, codes[harness.ExitPass], seeds, codes[harness.ExitUnknown])
	}
}
