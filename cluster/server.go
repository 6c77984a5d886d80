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
