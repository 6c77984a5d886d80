package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

const (
	startTimeout  = time.Minute     // after which a server is given up; one in Java takes half of it on a busy host
	foundTimeout  = 5 * time.Second // one that somebody else runs serves already
	stopTimeout   = 3 * time.Second
	probeEvery    = 2 * time.Millisecond // at first; a server that takes long is asked less often, or it is slower yet
	probeShare    = 50                   // of the time it took so far
	togetherEvery = 20 * time.Millisecond
	portTries     = 5 // a server may lose the race for its port
)

// Cluster is a running topology.
type Cluster struct {
	Topology Topology
	Provider Provider
	servers  []*Server
}

// Network gives servers addresses by which they know each other, wherever they listen. The main port of a server has
// the empty name.
type Network interface {
	// Announce opens the one address of a server's port for all others, on a host that they reach, and notes from where
	// the server calls them. Without a source, callers are told apart by the process whose socket calls (see Runs), and
	// a caller whose socket belongs to no server is refused.
	Announce(host, node, port, source string) (addr string, err error)
	// Calls notes the address from which a server, and no other, calls.
	Calls(node, source string)
	// Greet rewrites the first bytes that from sends to the port of to, if that port is pairwise.
	Greet(from, to, port string, g Greeting)
	// Runs notes the process of a server.
	Runs(node string, pid int)
	// Between opens the address of a port for one caller, on a host that it reaches.
	Between(host, from, to, port string) (addr string, err error)
	// Serve notes where a port really is now.
	Serve(node, port, addr string)
}

// Options are the options of Start.
type Options struct {
	Network Network // may be nil if the servers have no peers
	Shim    string  // library that makes the servers' clocks jump; empty: they cannot
	Disks   bool    // the servers with data are on disks that can lose their power: see [Disks] and [CanDisk]
}

// Start starts every node of the topology below dir and waits until each serves, and all serve together. On an error
// nothing is left running.
func Start(ctx context.Context, t Topology, p Provider, dir string, o Options) (*Cluster, error) {
	c := &Cluster{Topology: t, Provider: p}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for _, r := range t.Nodes {
		s := &Server{recipe: r, topology: t, provider: p, network: o.Network}
		s.place = Place{Dir: filepath.Join(dir, r.Name), Follows: r.Role == history.RoleReplica, Awaited: t.Ready != nil}
		if r.Admin != nil {
			s.admin = r.Admin(s.Addr)
		}
		if o.Disks && r.Data {
			s.synced = make(chan struct{})
		}
		c.servers = append(c.servers, s)
	}
	err = c.settle(ctx)
	if err == nil && !Foreign(p) {
		err = c.announce(o)
	}
	for stage := 0; err == nil && stage <= c.lastStage(); stage++ {
		err = c.startStage(ctx, stage)
	}
	if err == nil && t.Ready != nil && !Foreign(p) {
		err = c.awaitTogether(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// announce gives every node its clock, and its addresses, before any of them starts.
func (c *Cluster) announce(o Options) error {
	for _, s := range c.servers {
		if o.Shim != "" {
			if err := s.giveClock(o.Shim); err != nil {
				return err
			}
		}
		s.place.Peers = map[string]int{}
		if s.place.OwnAddress && o.Network != nil {
			o.Network.Calls(s.Name(), s.place.Source)
		}
	}
	for _, s := range c.servers {
		for _, p := range s.recipe.ports() {
			if err := c.openTo(o.Network, s, p); err != nil {
				return fmt.Errorf("cannot listen on the addresses through which other servers connect to server %s: %w", s.Name(), err)
			}
		}
	}
	return nil
}

// openTo opens the addresses by which the others reach one port of a server.
func (c *Cluster) openTo(n Network, to *Server, p Port) error {
	if n == nil && p.Peering != NoPeers {
		return errors.New("the field Options.Network is not set: set it, because the servers of this topology connect to each other")
	}
	switch p.Peering {
	case Announced, BySocket:
		source := to.place.Source
		if p.Peering == BySocket && !to.place.OwnAddress { // it cannot be told from where to call
			source = ""
		}
		addr, err := n.Announce(to.place.PeerHost, to.Name(), p.Name, source)
		if err != nil {
			return err
		}
		if p.Name == "" {
			to.announced = addr
		}
		for _, s := range c.servers {
			if err := s.place.learn(to.Name(), p.Name, addr); err != nil {
				return err
			}
		}
	case Pairwise:
		for _, from := range c.servers {
			if from == to {
				continue
			}
			addr, err := n.Between(from.place.PeerHost, from.Name(), to.Name(), p.Name)
			if err != nil {
				return err
			}
			if p.Greeting != nil {
				n.Greet(from.Name(), to.Name(), p.Name, p.Greeting)
			}
			if err := from.place.learn(to.Name(), p.Name, addr); err != nil {
				return err
			}
		}
	}
	return nil
}

// learn notes how a peer is reached.
func (p Place) learn(node, port, addr string) error {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return err
	}
	p.Peers[node+" "+port] = tcp.Port
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
	var last error // but for what the end of our patience made of a question
	for {
		err := c.Topology.Ready(ctx, addrs)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the servers of topology %s did not connect to each other in time: %w", c.Topology.Name, last)
		case <-time.After(togetherEvery):
		}
	}
}

// Fleet returns the servers that replace masters; nil: none do.
func (c *Cluster) Fleet() Fleet {
	if c.Topology.Fleet == nil {
		return nil
	}
	return c.Topology.Fleet(c.servers)
}

// Servers returns the nodes in the order of the topology.
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
