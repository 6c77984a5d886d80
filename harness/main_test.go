package harness

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// The test binary starts itself again as workers and embedded servers.
func TestMain(m *testing.M) {
	WorkerMain(Default())
	os.Exit(m.Run())
}

// startTopology starts a topology with a provider. A server that is missing fails the
// test: it must never be skipped in silence.
func startTopology(t testing.TB, name, provider string) *cluster.Cluster {
	t.Helper()
	top, err := Default().Topologies.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	starter := proc.NewStarter()
	t.Cleanup(starter.Close)
	p, err := cluster.Choose(provider, top, Providers(starter))
	if err != nil {
		t.Fatalf("%v\n(make test installs what the tests need)", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	c, err := cluster.Start(ctx, top, p, filepath.Join(t.TempDir(), "nodes"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
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

func mustRun(t *testing.T, cfg Config) *Outcome {
	t.Helper()
	out, err := Run(context.Background(), Default(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Trouble != nil {
		t.Fatal(out.Trouble)
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
