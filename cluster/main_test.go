package cluster_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/leaktest"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
)

func TestMain(m *testing.M) {
	clustertest.Main()
	leaktest.Main(m)
}

// testLimit is for one test: what does not come by then does not come.
const testLimit = 30 * time.Second

// bench is what a topology is started with.
type bench struct {
	t   *testing.T
	ctx context.Context
	p   cluster.ProcessProvider
	net *link.Network
	dir string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	starter := proc.NewStarter()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	b := &bench{t: t, ctx: ctx, p: cluster.ProcessProvider{Starter: starter}, net: link.New(), dir: t.TempDir()}
	t.Cleanup(func() {
		if err := b.net.Close(); err != nil {
			t.Error(err)
		}
		starter.Close()
		cancel()
	})
	return b
}

func (b *bench) options() cluster.Options { return cluster.Options{Network: b.net} }

// start starts a topology; it is stopped with the test.
func (b *bench) start(top cluster.Topology) *cluster.Cluster {
	b.t.Helper()
	if err := top.Valid(); err != nil {
		b.t.Fatal(err)
	}
	c, err := cluster.Start(b.ctx, top, b.p, b.dir, b.options())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := c.Stop(b.ctx); err != nil {
			b.t.Error(err)
		}
	})
	return c
}

// fails starts a topology that cannot be started, and returns what the error says.
func (b *bench) fails(top cluster.Topology) string {
	b.t.Helper()
	c, err := cluster.Start(b.ctx, top, b.p, b.dir, b.options())
	if err == nil {
		b.t.Fatalf("it was started: %v", c.Stop(b.ctx))
	}
	return err.Error()
}

func (b *bench) path(parts ...string) string {
	return filepath.Join(append([]string{b.dir}, parts...)...)
}

// await waits for something to come true.
func (b *bench) await(what string, there func() bool) {
	b.t.Helper()
	for !there() {
		select {
		case <-b.ctx.Done():
			b.t.Fatalf("no %s in time", what)
		case <-time.After(time.Millisecond):
		}
	}
}

// store is what can be asked of a server that is a store.
func store(t *testing.T, s *cluster.Server) clustertest.Store {
	t.Helper()
	can, ok := cluster.As[clustertest.Store](s)
	if !ok {
		t.Fatalf("%s is no store", s.Name())
	}
	return can
}

func mustSay(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("it says %q, want %q", text, want)
	}
}
