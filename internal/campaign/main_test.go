package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/companion/servers"
	"github.com/lockstorm/lockstorm/internal/leaktest"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/suite"
)

func TestMain(m *testing.M) {
	servers.Child()
	if addr := os.Getenv(workerOf); addr != "" {
		os.Exit(sleepyWorker(addr))
	}
	leaktest.Main(m)
}

func catalogue() *harness.Catalogue { return harness.New(stores.All()...) }

// serve starts a queue in a directory.
func serve(t testing.TB, dir, addr string) *queue.Embedded {
	t.Helper()
	s, err := queue.Serve(queue.Serving{Addr: addr, Dir: dir, Room: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t testing.TB, url string) *queue.Queue {
	t.Helper()
	q, err := queue.Open(t.Context(), queue.Access{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

// manifest is a campaign of so many cells with so many seeds, of runs that [sleepy] makes.
func manifest(t testing.TB, name string, cells, seeds int) *Manifest {
	t.Helper()
	def := gate.Definition{Schema: gate.Schema, Name: "sleepy", Version: "test", Started: time.Now()}
	var all []plan.Cell
	for i := range cells {
		c := plan.Cell{
			Case: suite.Case{
				Name: fmt.Sprintf("cell-%d", i), Text: "sleeps",
				Run: suite.MustLine("--backend file-flock --time 1s"), Expect: suite.Expectation{Exit: []int{0}},
			}, Row: "file-flock",
			Column: fmt.Sprint(i), Place: i,
		}
		for s := range seeds {
			c.Seeds = append(c.Seeds, uint64(s+1))
		}
		all = append(all, c)
	}
	def.Cells = all
	m, err := Make(catalogue(), def, Settings{
		Name: name, Build: "test", Retry: 2, AckWait: time.Second, Keep: time.Hour,
		Room: 1 << 30,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func start(t testing.TB, q *queue.Queue, m *Manifest) *Campaign {
	t.Helper()
	c, err := Start(t.Context(), q, catalogue(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// begun is a campaign that was started on a queue of its own.
func begun(t testing.TB, name string, cells, seeds int) *Campaign {
	t.Helper()
	return start(t, open(t, serve(t, t.TempDir(), "127.0.0.1:0").URL()), manifest(t, name, cells, seeds))
}

// sleepy makes no run: it waits, and writes a directory like that of a run.
func sleepy(d time.Duration) func(context.Context, *gate.Suite, plan.Cell, uint64, int) (*gate.RunResult, error) {
	return func(ctx context.Context, s *gate.Suite, c plan.Cell, seed uint64, attempt int) (*gate.RunResult, error) {
		began := time.Now()
		if !nemesis.Wait(ctx, d) {
			return nil, ctx.Err()
		}
		o := &gate.RunResult{
			Cell: c.Case.Name, Seed: seed, Attempt: attempt, Status: gate.Expected, Outcome: suite.Safe, Began: began,
			Took: time.Since(began), Length: d, Dir: gate.RunDir(c.Case.Name, seed, attempt), Stats: map[string]int64{"grants": 1},
		}
		dir := filepath.Join(s.Dir, o.Dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		return o, errors.Join(os.WriteFile(filepath.Join(dir, "history.jsonl"), []byte(strings.Repeat(c.Case.Name, 1000)), 0o644),
			os.WriteFile(filepath.Join(dir, gate.OutcomeFile), []byte("{}"), 0o644))
	}
}

func worker(t testing.TB, c *Campaign, name string, jobs int, d time.Duration) *Worker {
	return &Worker{
		Campaign: c, Catalogue: catalogue(), Name: name, Machine: "here", Dir: t.TempDir(), Jobs: jobs, Room: 1 << 40,
		Do: sleepy(d),
	}
}

// ended fails the test unless every task has one outcome that counts, and says how many attempts there are.
func ended(t testing.TB, c *Campaign, dir string) (attempts int) {
	t.Helper()
	s, err := c.Gather(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Judge(nil)
	if len(r.Cells) != len(c.Definition.Cells) {
		t.Fatalf("%d cells are judged of %d", len(r.Cells), len(c.Definition.Cells))
	}
	for i, j := range r.Cells {
		if want := len(c.Definition.Cells[i].Seeds); j.Of != want || j.AsIt != want || len(j.Runs) != want {
			t.Errorf("%s: %d of %d runs as expected, %d count; want %d of each", j.Name, j.AsIt, j.Of, len(j.Runs), want)
		}
	}
	for _, o := range s.Outcomes {
		if b, err := os.ReadFile(filepath.Join(dir, o.Dir, "history.jsonl")); err != nil || string(b) != strings.Repeat(o.Cell, 1000) {
			t.Errorf("%s: the run is not what was stored: %v", o.Dir, err)
		}
	}
	return len(s.Outcomes)
}
