package harness

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/leaktest"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// The test binary starts itself again as workers and embedded servers.
func TestMain(m *testing.M) {
	WorkerMain(testCatalogue())
	victimMain()
	// Runs wait for most of their time.
	if err := flag.Set("test.parallel", "4"); err != nil { // -parallel says otherwise
		panic(err)
	}
	leaktest.Main(m) // every goroutine of a run has an owner that waits for it
}

// testCatalogue adds a redis-lua on a bad line: one try in five is carried out or not,
// and its answer is lost.
func testCatalogue() *Catalogue {
	cat := plainCatalogue()
	spec, err := cat.Backends.Get("redis-lua")
	if err != nil {
		panic(err)
	}
	open := spec.Open
	spec.Name, spec.Doc = "bad-line", "redis-lua whose answers are lost now and then"
	spec.Open = func(ctx context.Context, env backends.Env) (backends.Locker, error) {
		l, err := open(ctx, env)
		return &badLine{Locker: l, env: env}, err
	}
	cat.Backends.Add(spec, stuckAfter(cat, "none"), stuckAfter(cat, "file-flock"))
	cat.Backends.Add(modelSpecs()...)
	cat.Workloads.Add(modelWorkloads()...)
	return cat
}

type badLine struct {
	backends.Locker
	env backends.Env
}

func (b *badLine) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, b.env, req, b.TryAcquire)
}

func (b *badLine) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	if b.env.Rand.IntN(5) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return b.Locker.TryAcquire(ctx, req)
}

// startTopology starts a topology with a provider. A server that is missing fails the
// test: it must never be skipped in silence.
func startTopology(t testing.TB, name, provider string) *cluster.Cluster {
	t.Helper()
	top, err := plainCatalogue().Topologies.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return startServers(t, top, provider)
}

// startServers is startTopology for one that a test has changed.
func startServers(t testing.TB, top cluster.Topology, provider string) *cluster.Cluster {
	t.Helper()
	return ensembletest.StartWith(t, top, provider, func(s *proc.Starter) []cluster.Provider {
		return plainCatalogue().Providers(Means{Starter: s})
	}).Cluster
}

// shortConfig is a run of a few seconds.
func shortConfig(t *testing.T, backend string) Config {
	t.Helper()
	cfg := Defaults()
	cfg.Backend, cfg.Seed, cfg.Clients = backend, 11, 3
	cfg.TTL, cfg.Time = 500*time.Millisecond, time.Second
	cfg.Out = filepath.Join(t.TempDir(), "run")
	return cfg
}

// mustRun makes a run without trouble. One that a busy host could not end in time is made anew.
func mustRun(t *testing.T, cfg Config) *RunOutcome {
	t.Helper()
	for try := 1; ; try++ {
		out, err := Run(context.Background(), testCatalogue(), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if out.Trouble == nil {
			return out
		}
		if !errors.Is(out.Trouble, errCut) || try == 3 {
			t.Fatal(out.Trouble)
		}
		t.Log(out.Trouble)
		if err := os.RemoveAll(cfg.Out); err != nil {
			t.Fatal(err)
		}
	}
}

// mustPass is mustRun of a run that passes; what a busy host made inconclusive is run anew.
func mustPass(t *testing.T, cfg Config) *RunOutcome {
	t.Helper()
	var out *RunOutcome
	for try := range 5 {
		cfg.Out = filepath.Join(t.TempDir(), strconv.Itoa(try))
		if out = mustRun(t, cfg); out.ExitCode() != ExitUnknown {
			break
		}
	}
	if out.ExitCode() != ExitPass {
		t.Fatalf("exit %d: %+v", out.ExitCode(), out.Results.Checks)
	}
	return out
}

func recordOf(t *testing.T, dir string) *history.Record {
	t.Helper()
	h, err := history.ReadFile(filepath.Join(dir, history.File))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// plainCatalogue is what the tests run.
func plainCatalogue() *Catalogue { return New(stores.All()...) }
