// Package servertest starts the servers of tests.
package servertest

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// Start starts a topology with one of the providers, until the test ends. A server that is missing fails the test: it must never
// be skipped in silence.
func Start(t testing.TB, top cluster.Topology, provider string,
	providers func(*proc.Starter) []cluster.Provider,
) *cluster.Cluster {
	t.Helper()
	starter := proc.NewStarter()
	t.Cleanup(starter.Close)
	p, err := cluster.Choose(provider, top, providers(starter))
	if err != nil {
		t.Fatalf("%v\n(make test installs what the tests need)", err)
	}
	t.Cleanup(func() {
		if c, ok := p.(io.Closer); ok {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // an image may have to be built
	t.Cleanup(cancel)
	net := link.New()
	t.Cleanup(func() {
		if err := net.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := cluster.Start(ctx, top, p, filepath.Join(t.TempDir(), "nodes"), cluster.Options{Network: net})
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
