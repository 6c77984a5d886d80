package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/clockshim"
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

// Server is one node of a cluster.
type Server struct {
	recipe   Recipe
	topology Topology
	provider Provider
	network  Network
	clock    *clockshim.Clock // nil: its clock cannot jump

	announced string // empty: it has no peers

	op sync.Mutex // held by what changes the state of the server, from start to proof

	mu       sync.Mutex
	place    Place
	instance Instance
	onMove   func(addr string)
}

// Name is the node's name in the topology.
func (s *Server) Name() string { return s.recipe.Name }

// Recipe is what the node is made of.
func (s *Server) Recipe() Recipe { return s.recipe }

// Announced is the address under which its peers know the node; empty where it has none.
func (s *Server) Announced() string { return s.announced }

// Role is the node's role now, as far as it says so itself; a node that does not answer
// is down.
func (s *Server) Role() string {
	if s.recipe.Store == nil {
		return s.recipe.Role
	}
	if s.Down() {
		return RoleDown
	}
	ctx, cancel := context.WithTimeout(context.Background(), roleTimeout)
	defer cancel()
	role, err := s.recipe.Store.Role(ctx, s.Addr())
	if err != nil {
		return RoleDown
	}
	return role
}

const roleTimeout = 300 * time.Millisecond

// giveClock gives the server a wall clock of its own, before its first start.
func (s *Server) giveClock(shim string) error {
	if err := os.MkdirAll(s.place.Dir, 0o755); err != nil {
		return err
	}
	clock, err := clockshim.New(filepath.Join(s.place.Dir, "clock"))
	if err != nil {
		return err
	}
	s.clock, s.place.Env = clock, clock.Env(shim)
	return nil
}

// Jump moves the server's wall clock by d; the text is the proof, read back from the
// server.
func (s *Server) Jump(ctx context.Context, d time.Duration) (string, error) {
	if s.clock == nil || s.recipe.Store == nil {
		return "", fmt.Errorf("the clock of %s cannot jump", s.Name())
	}
	offset, err := s.clock.Jump(d)
	if err != nil {
		return "", err
	}
	proof, err := s.showsJump(ctx, d, offset)
	if err != nil { // not proven: not done
		_, back := s.clock.Jump(-d)
		return "", errors.Join(err, back)
	}
	return proof, nil
}

// showsJump waits until the server's own clock is as far from the host's as it should be.
func (s *Server) showsJump(ctx context.Context, d, offset time.Duration) (string, error) {
	for {
		now, err := s.recipe.Store.Clock(ctx, s.Addr())
		if err != nil {
			return "", fmt.Errorf("clock of %s: %w", s.Name(), err)
		}
		if ahead := time.Until(now); (ahead - offset).Abs() < min(clockClose, d.Abs()/4) {
			return fmt.Sprintf("the clock of %s jumped by %v and is %v from the host's", s.Name(), d, ahead.Round(time.Millisecond)), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the clock of %s did not jump: it shows %v", s.Name(), now)
		case <-time.After(probeEvery):
		}
	}
}

const clockClose = 200 * time.Millisecond // a server may show a time that it read a little earlier

// Addr is where the node listens now.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place.Addr()
}

// OnMove sets what is called when a restart moved the server to another port.
func (s *Server) OnMove(f func(addr string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onMove = f
}

// Pause stops the server with SIGSTOP; the text is the proof.
func (s *Server) Pause(ctx context.Context) (string, error) {
	s.op.Lock()
	defer s.op.Unlock()
	return s.current().Pause(ctx)
}

// Resume lets a paused server go on. A server that was restarted meanwhile runs already.
func (s *Server) Resume(ctx context.Context) (string, error) {
	s.op.Lock()
	defer s.op.Unlock()
	return s.current().Resume(ctx)
}

// Kill ends the server with SIGKILL.
func (s *Server) Kill(ctx context.Context) error {
	s.op.Lock()
	defer s.op.Unlock()
	return s.current().Kill(ctx)
}

// Down reports whether the server's process has ended.
func (s *Server) Down() bool {
	select {
	case <-s.current().Done():
		return true
	default:
		return false
	}
}

// Restart starts the server again after a Kill, with what its topology kept, and waits
// until it serves. The text is the proof. A server that somebody else has started again
// already is left as it is.
func (s *Server) Restart(ctx context.Context) (string, error) {
	s.op.Lock()
	defer s.op.Unlock()
	if !s.Down() {
		return s.Name() + " was started again by another fault", nil
	}
	before := s.Addr()
	old := s.current().Pid()
	begun := time.Now()
	if err := s.start(ctx); err != nil {
		return "", err
	}
	after := s.Addr()
	s.mu.Lock()
	moved := s.onMove
	s.mu.Unlock()
	if after != before && moved != nil {
		moved(after)
	}
	return fmt.Sprintf("%s was pid %d, answers again as pid %d at %s after %v", s.Name(), old, s.current().Pid(), after,
		time.Since(begun).Round(time.Millisecond)), nil
}

func (s *Server) current() Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance
}

// start launches the server and waits for it to serve. A server that ends before it
// serves may have lost the race for its port: it is tried again on another.
func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := os.MkdirAll(s.place.Dir, 0o755); err != nil {
		return fmt.Errorf("start %s: %w", s.Name(), err)
	}
	var err error
	for try := range portTries {
		place := s.place
		if try > 0 || place.Port == 0 {
			if place.Port, err = freePort(); err != nil {
				return err
			}
		}
		err = s.startAt(ctx, place)
		if !errors.Is(err, errEnded) {
			return err
		}
	}
	return err
}

var errEnded = errors.New("it ended before it served")

func (s *Server) startAt(ctx context.Context, place Place) error {
	in, err := s.provider.Launch(ctx, s.topology, s.recipe, place)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.Name(), err)
	}
	s.mu.Lock()
	s.place, s.instance = place, in
	s.mu.Unlock()
	pid := in.Pid()
	for {
		err := s.recipe.Ready(ctx, place.Addr(), pid)
		if err == nil {
			if s.network != nil {
				s.network.Serve(s.Name(), place.Addr())
			}
			return nil
		}
		select {
		case <-in.Done():
			return fmt.Errorf("start %s: %w (see %s): %s", s.Name(), errEnded, filepath.Join(place.Dir, "server.log"), lastLine(filepath.Join(place.Dir, "server.log")))
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not serve at %s: %w (see %s)", s.Name(), place.Addr(), err,
				filepath.Join(place.Dir, "server.log")), in.Kill(context.WithoutCancel(ctx)))
		case <-time.After(probeEvery):
		}
	}
}

func (s *Server) stop(ctx context.Context) error {
	in := s.current()
	if in == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	return in.Terminate(ctx)
}

// lastLine is what the server said last.
func lastLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}

// freePort asks the kernel for a port of 127.0.0.1 that is free now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
