package damage

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/backends/redis/embedded"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// catalogue has the stores of these tests.
func catalogue() *harness.Catalogue { return harness.New(file.Part(), embedded.Part()) }

func TestMain(m *testing.M) {
	harness.WorkerMain(catalogue())
	os.Exit(m.Run())
}

// runs are what is spoilt: passing and failing ones of several backends.
var runs = []string{
	"--backend file-flock --nemesis client-pause --ttl 300ms --time 1s --clients 3 --seed 1",
	"--backend redis-lua --nemesis client-kill --ttl 300ms --time 1s --clients 3 --seed 1",
	"--backend redis-fenced --nemesis client-pause --fencing on --ttl 300ms --time 1200ms --clients 3 --seed 1",
	"--backend none --nemesis none --ttl 300ms --time 300ms --clients 3 --seed 1",
	"--backend redis-lua --nemesis client-pause:at=before-write,every=10s --ttl 300ms --time 1200ms --clients 3 --seed 1",
	"--backend redis-del --nemesis client-pause:at=before-release --ttl 300ms --time 1500ms --clients 3 --seed 1",
	"--backend file-excl --nemesis client-kill:at=before-write,every=10s --ttl 300ms --time 600ms --clients 3 --seed 1",
	"--backend redis-lua --nemesis server-restart:every=10s --ttl 1s --time 1s --clients 3 --seed 1",
}

// judgeLimit is for one damaged record: two seconds where DAMAGE_N asks for the long form. Else it
// tells only what hangs, since the race detector and a busy host make it slow.
func judgeLimit() time.Duration {
	if os.Getenv("DAMAGE_N") != "" {
		return 2 * time.Second
	}
	return time.Minute
}

// TestDamage spoils every run in every way. DAMAGE_N is how many records are made (600),
// DAMAGE_SEED the seed.
func TestDamage(t *testing.T) {
	n, seed := setting.Random(t, "DAMAGE_N", 600), setting.Number(t, "DAMAGE_SEED", 1)
	records := make([]record, len(runs))
	for i, line := range runs {
		records[i] = makeRun(t, line)
	}
	kinds := Kinds()
	var mu sync.Mutex
	var slowest time.Duration
	tally := map[string]int{}
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range jobs {
				kind, rec := kinds[i%len(kinds)], records[i/len(kinds)%len(records)]
				what, took := spoil(t, rec, kind, rand.New(rand.NewPCG(uint64(seed), uint64(i)))) // a seed
				mu.Lock()
				tally[kind.Name+": "+what]++
				slowest = max(slowest, took)
				mu.Unlock()
			}
		})
	}
	for i := range n {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	for _, line := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%6d  %s", tally[line], line)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	const limit = 500 << 20
	if mem.Sys > limit {
		t.Errorf("the test took %d MB, with one record at a time on each core", mem.Sys>>20)
	}
	t.Logf("the slowest was judged in %v; the test never took more than %d MB", slowest.Round(time.Millisecond), mem.Sys>>20)
}

// record is a run whose logs can be spoilt.
type record struct {
	line string
	logs Logs
	code int
}

func makeRun(t *testing.T, line string) record {
	t.Helper()
	cfg, err := harness.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Out = filepath.Join(t.TempDir(), "run")
	out, err := harness.Run(t.Context(), catalogue(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := record{line: line, logs: Logs{}, code: out.Results.ExitCode}
	paths, err := filepath.Glob(filepath.Join(cfg.Out, history.LogDir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		r.logs[strings.TrimSuffix(filepath.Base(p), ".jsonl")] = b
	}
	return r
}

// spoil damages a record and judges it: what it shows must never be the opposite of what it
// showed whole.
func spoil(t *testing.T, rec record, kind Kind, rnd *rand.Rand) (what string, took time.Duration) {
	logs := rec.logs.Clone()
	if !kind.Spoil(logs, rnd) {
		return "nothing to spoil", 0
	}
	begun := time.Now()
	code, why := judge(logs)
	if took = time.Since(begun); took > judgeLimit() {
		t.Errorf("%s, %s: judged in %v", rec.line, kind.Name, took)
	}
	if (rec.code == harness.ExitViolation && code == harness.ExitPass) ||
		(rec.code == harness.ExitPass && code == harness.ExitViolation) {
		t.Errorf("%s, %s: exit code %d whole, and %d damaged: %s\n%s", rec.line, kind.Name, rec.code, code, why,
			difference(rec.logs, logs))
	}
	return [...]string{"pass", "violation", "unknown", "refused"}[code], took
}

// judge merges logs and judges them, as `check` does with a directory.
func judge(logs Logs) (code int, why string) {
	var parts []*history.History
	for _, party := range slices.Sorted(maps.Keys(logs)) {
		h, err := history.Read(bytes.NewReader(logs[party]), party)
		if errors.Is(err, history.ErrNoHistory) {
			h = &history.History{Torn: party + ": empty"}
		} else if err != nil {
			return harness.ExitUsage, err.Error()
		}
		parts = append(parts, h)
	}
	h, err := history.Merge(parts)
	if err != nil {
		return harness.ExitUsage, err.Error()
	}
	in, err := checker.NewInput(h)
	if err != nil {
		return harness.ExitUsage, err.Error()
	}
	r := checker.Judge(in, checks.Default())
	for _, name := range r.Order {
		if c := r.Checks[name]; c.Required && c.Verdict != checker.Pass {
			why += fmt.Sprintf("%s %s %s; ", name, c.Verdict, c.Reason)
		}
	}
	return r.ExitCode, why
}

// difference names the first place in which each log was changed.
func difference(before, after Logs) string {
	var b strings.Builder
	for _, party := range slices.Sorted(maps.Keys(before)) {
		old, now := before[party], after[party]
		if bytes.Equal(old, now) {
			continue
		}
		i := 0
		for i < len(old) && i < len(now) && old[i] == now[i] {
			i++
		}
		fmt.Fprintf(&b, "%s at byte %d of %d, now %d: %q -> %q\n", party, i, len(old), len(now), old[max(0, i-60):min(len(old), i+20)],
			now[max(0, min(i, len(now))-60):min(len(now), i+20)])
	}
	return b.String()
}
