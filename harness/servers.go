package harness

import (
	"context"
	"errors"
	"os"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// Servers are the running servers of a topology, without a run.
type Servers struct {
	Provider string
	Dir      string // has the folder of each, as that which the clients of a run share
	Nodes    []cluster.Ref
	Addrs    map[string]string // host:port by node

	stop func() error
}

// Stop ends the servers.
func (s *Servers) Stop() error { return s.stop() }

// StartServers starts the servers of a topology on which a backend runs, in a temporary directory that Stop removes.
// The error, if any, is an [Error].
func StartServers(ctx context.Context, cat *Catalogue, b backends.Spec, topology, provider string) (*Servers, error) {
	t, err := cat.TopologyOf(b, topology)
	if err != nil {
		return nil, Usage(err)
	}
	dir, err := os.MkdirTemp("", "lockstorm-servers-")
	if err != nil {
		return nil, Environment(err)
	}
	starter, net := proc.NewStarter(), link.New()
	var c *cluster.Cluster
	stop := func() error {
		var err error
		if c != nil {
			err = c.Stop(context.WithoutCancel(ctx))
		}
		starter.Close()
		return errors.Join(err, net.Close(), os.RemoveAll(dir))
	}
	p, err := cluster.Choose(provider, t, cat.Providers(Means{Starter: starter, Say: func(string) {}}))
	if err == nil {
		c, err = cluster.Start(ctx, t, p, dir, cluster.Options{Network: net})
	}
	if err != nil {
		return nil, Environment(errors.Join(err, stop()))
	}
	s := &Servers{Provider: p.Name(), Dir: dir, Addrs: map[string]string{}, stop: stop}
	for _, n := range c.Servers() {
		s.Nodes, s.Addrs[n.Name()] = append(s.Nodes, cluster.Ref{Name: n.Name(), Role: n.Recipe().Role, Announced: n.Announced()}),
			n.Addr()
	}
	return s, nil
}
