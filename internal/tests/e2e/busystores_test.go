//go:build series

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// right are locks of all stores that keep their promise.
var right = []string{
	"file-flock", pidLock, "redis-lua", "redis-watchdog", "redis-fenced", "redislock", "redlock", "redsync", "nats-kv",
	"zk-exclusive", "zk-sequential", "zk-rwlock", "zk-library", "etcd-mutex", "etcd-txn", "etcd-election",
	"sql-for-update", "sql-optimistic", "sql-insert-unique", "sql-lease-row", "postgres-advisory", "mariadb-get-lock",
}

// pidLock is a lock of another language; the faults of file-flock do it no harm, either.
const pidLock = "exec:cmd=../../../adapters/python/pid_lock.py"

// TestSeriesBusyStores runs locks that are right beside four spinning loops: each under one or two faults that do it
// no harm, and then under chaos, which may do some. The host may make a run inconclusive; no violation is without a fault
// or a delay as its cause, and without chaos no run fails. What docs/matrix.md says that a fault breaks is not drawn.
// BUSY_RUNS and BUSY_SEED change how many and which runs, BUSY_OUT is where they are kept.
func TestSeriesBusyStores(t *testing.T) {
	runs, seed, out := setting.Number(t, "BUSY_RUNS", 30), setting.Number(t, "BUSY_SEED", 1), os.Getenv("BUSY_OUT")
	if out == "" {
		out = t.TempDir()
	}
	defer spin(t)()
	drawn, pass := drawRight(t, runs, uint64(seed)), make([]bool, runs)
	t.Run("runs", func(t *testing.T) {
		for i, c := range drawn {
			t.Run(fmt.Sprint(seed+i), func(t *testing.T) {
				t.Parallel()
				pass[i] = honest(t, c.Seeded(uint64(seed+i)), filepath.Join(out, fmt.Sprint(seed+i)))
			})
		}
	})
	passed := 0
	for _, p := range pass {
		if p {
			passed++
		}
	}
	if fmt.Printf("%d of %d runs passed\n", passed, runs); passed*2 < runs {
		t.Errorf("%d of %d runs passed: too few to have shown anything", passed, runs)
	}
}

// drawRight draws the runs: each lock once before any comes twice, and then under chaos.
func drawRight(t *testing.T, runs int, seed uint64) (drawn []suite.Case) {
	rnd := rand.New(rand.NewPCG(seed, 0)) // a seed
	harmless := map[string][]suite.Case{}
	for _, c := range pairs(t) {
		if w := c.Expect.Outcome; c.Run.Nemesis[0] != "none" && (w == suite.Safe || w == suite.Inherent) {
			harmless[c.Run.Backend] = append(harmless[c.Run.Backend], c)
		}
	}
	harmless[pidLock] = harmless["file-flock"]
	for round := 0; len(drawn) < runs; round++ {
		for _, i := range rnd.Perm(len(right)) {
			all, c := harmless[right[i]], cases.Pair(right[i], "chaos", "")
			if round%2 == 0 {
				c = all[rnd.IntN(len(all))]
				with := all[rnd.IntN(len(all))]
				for with.Run.Topology != c.Run.Topology {
					with = all[rnd.IntN(len(all))]
				}
				c.Run.Nemesis = slices.Compact([]string{c.Run.Nemesis[0], with.Run.Nemesis[0]})
			}
			c.Run.Backend, c.Run.Time, c.Run.FailOn = right[i], 6*time.Second, history.FailOnDefect
			drawn = append(drawn, c)
		}
	}
	return drawn[:runs]
}

// honest makes one run and reports whether it passed.
func honest(t *testing.T, c suite.Case, dir string) bool {
	code, text, r := bounded(t, c, dir, 2*soakLimit)
	var found []string
	for name, check := range r.Checks {
		for _, f := range check.Findings {
			if !check.Required || check.Verdict != checker.Fail || f.Doubtful || f.Class == checker.NoClass && !f.Gating {
				continue
			}
			found = append(found, fmt.Sprintf("%s (%s, %s)", f.Rule, f.Class, f.CauseKind))
			if slices.Contains([]checker.CauseKind{checker.CauseNone, checker.CauseRecord, checker.CauseRenewal}, f.CauseKind) {
				t.Errorf("%s: a violation of the check %s without a fault or delay as its cause: %s", dir, name, f.Message)
			}
		}
	}
	if code == harness.ExitViolation && c.Run.Nemesis[0] != "chaos" {
		t.Errorf("%s: a violation by a lock that is right\n%s", dir, text)
	}
	verifies(t, dir)
	again, text := carryOut(t, "check", dir)
	if now := results(t, dir); again != code || now.Verdict != r.Verdict {
		t.Errorf("%s: the run ended %s with exit code %d, check says %s with %d\n%s", dir, r.Verdict, code, now.Verdict, again, text)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	fmt.Printf("%s: exit %d, lockstorm run %s: %s\n", filepath.Base(dir), code, c.Run.Line(), strings.Join(found, ", "))
	return code == harness.ExitPass
}
