package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"
)

const (
	startTimeout  = 15 * time.Second
	stopTimeout   = 3 * time.Second
	probeEvery    = 2 * time.Millisecond
	togetherEvery = 20 * time.Millisecond
	portTries     = 5
)

// Cluster is a running topology.
type Cluster struct {
	Topology Topology
	Provider Provider
	servers  []*Server
}

// Network gives servers addresses by which they know each other, wherever they listen.
type Network interface {
	// Announce opens the address of a node, and notes from where it calls others.
	Announce(node, source string) (addr string, err error)
	// Serve says where the node really listens now.
	Serve(node, addr string)
}

// Options are what a topology is started with.
type Options struct {
	Network Network // needed where the servers have peers; else it may be nil
	Shim    string  // library that lets the servers' clocks jump; empty: they cannot
}

// Start starts every node of the topology below dir and waits until all serve, and serve
// together. On an error nothing is left running.
func Start(ctx context.Context, t Topology, p Provider, dir string, o Options) (*Cluster, error) {
	c := &Cluster{Topology: t, Provider: p}
	for i, r := range t.Nodes {
		s := &Server{recipe: r, topology: t, provider: p, network: o.Network}
		s.place = Place{Dir: filepath.Join(dir, r.Name), Host: "127.0.0.1", Source: fmt.Sprintf("127.0.0.%d", 11+i)}
		c.servers = append(c.servers, s)
	}
	err := c.announce(o)
	for stage := 0; err == nil && stage <= c.lastStage(); stage++ {
		err = c.startStage(ctx, stage)
	}
	if err == nil && t.Ready != nil {
		err = c.awaitTogether(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// announce gives every node its address and its clock before any of them starts.
func (c *Cluster) announce(o Options) error {
	peers := map[string]int{}
	for _, s := range c.servers {
		if o.Shim != "" {
			if err := s.giveClock(o.Shim); err != nil {
				return err
			}
		}
		s.place.Peers = peers
		if !c.Topology.Peers {
			continue
		}
		addr, err := o.Network.Announce(s.Name(), s.place.Source)
		if err != nil {
			return err
		}
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			return fmt.Errorf("announced address of %s: %w", s.Name(), err)
		}
		s.announced, peers[s.Name()] = addr, tcp.Port
	}
	return nil
}

func (c *Cluster) lastStage() int {
	last := 0
	for _, r := range c.Topology.Nodes {
		last = max(last, r.Stage)
	}
	return last
}

func (c *Cluster) startStage(ctx context.Context, stage int) error {
	errs := make([]error, len(c.servers))
	var wg sync.WaitGroup
	for i, s := range c.servers {
		if s.recipe.Stage == stage {
			wg.Go(func() { errs[i] = s.start(ctx) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// awaitTogether waits until the servers have found each other.
func (c *Cluster) awaitTogether(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	addrs := map[string]string{}
	for _, s := range c.servers {
		addrs[s.Name()] = s.Addr()
	}
	for {
		err := c.Topology.Ready(ctx, addrs)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("topology %s does not come together: %w", c.Topology.Name, err)
		case <-time.After(togetherEvery):
		}
	}
}

// Servers lists the nodes in the order of the topology.
func (c *Cluster) Servers() []*Server { return append([]*Server(nil), c.servers...) }

// Stop ends every server: politely, then with SIGKILL.
func (c *Cluster) Stop(ctx context.Context) error {
	errs := make([]error, len(c.servers))
	var wg sync.WaitGroup
	for i, s := range c.servers {
		wg.Go(func() { errs[i] = s.stop(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
