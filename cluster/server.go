package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/clockshim"
)

// Server is one node of a cluster.
type Server struct {
	recipe   Recipe
	topology Topology
	provider Provider
	network  Network
	clock    *clockshim.Clock // nil: its clock cannot jump

	announced string // empty: no one address for all
	admin     any
	prepared  bool

	disk   *disk         // that it is on now
	synced chan struct{} // closed when losses of power may begin; nil: it is on no such disk

	op sync.Mutex // held by what changes the state of the server, from start to proof

	mu       sync.Mutex
	place    Place
	instance Instance
	onMove   func(addr string)
}

// Name returns the node's name in the topology.
func (s *Server) Name() string { return s.recipe.Name }

// Recipe returns the node's recipe.
func (s *Server) Recipe() Recipe { return s.recipe }

// Announced returns the address under which its peers know the node; empty: it has none.
func (s *Server) Announced() string { return s.announced }

// Admin returns the value with the server's capabilities: see [As]. It is nil if its recipe has none.
func (s *Server) Admin() any { return s.admin }

// Refusal returns the function that recognizes answers that say that nothing was done; nil if there is none.
func (s *Server) Refusal() func(answer []byte) bool { return s.recipe.Refusal }

// Data reports whether the server holds data.
func (s *Server) Data() bool { return s.recipe.Data }

// Hidden reports whether clients reach the server only through others.
func (s *Server) Hidden() bool { return s.recipe.Hidden }

// Role returns the role that the server reports now; a server that does not answer is down.
func (s *Server) Role() string {
	r, ok := As[Roler](s)
	if !ok {
		return s.recipe.Role
	}
	if s.Down() {
		return history.RoleDown
	}
	ctx, cancel := context.WithTimeout(context.Background(), roleTimeout)
	defer cancel()
	role, err := r.Role(ctx)
	if err != nil {
		return history.RoleDown
	}
	return role
}

const roleTimeout = 300 * time.Millisecond

// Addr returns where the node listens now.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place.Addr()
}

// OnMove sets a function to call when a restart moved the server to another port.
func (s *Server) OnMove(f func(addr string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onMove = f
}

// Pause stops the server with SIGSTOP and returns the proof.
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

// Restart starts the server again after a Kill, with what its topology kept, waits until it serves and returns the
// proof. It leaves a server that somebody else has started again as it is.
func (s *Server) Restart(ctx context.Context) (string, error) {
	s.op.Lock()
	defer s.op.Unlock()
	if !s.Down() {
		return s.Name() + " is already running, because another fault started it again", nil
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
	return fmt.Sprintf("%s (pid %d before the restart) has restarted as pid %d at %s, and answers again; the restart took %v",
		s.Name(), old, s.current().Pid(), after,
		time.Since(begun).Round(time.Millisecond)), nil
}

func (s *Server) current() Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance
}

// start launches the server and waits for it to serve. A server that ends before it serves may have lost the race for
// its port: start tries again on another.
func (s *Server) start(ctx context.Context) error {
	patience := startTimeout
	if Foreign(s.provider) {
		patience = foundTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := os.MkdirAll(s.place.Dir, 0o755); err != nil {
		return fmt.Errorf("cannot start %s: %w", s.Name(), err)
	}
	if !s.prepared {
		if err := s.provider.Prepare(ctx, s.recipe, s.place); err != nil {
			return err
		}
		s.prepared = true
	}
	launcher, err := s.launcher(ctx)
	if err != nil {
		return err
	}
	for try := range portTries {
		place := s.place
		if try > 0 {
			place.Port, place.Ports = 0, nil
		}
		if err = s.startAt(ctx, launcher, place); !errors.Is(err, errEnded) {
			return err
		}
	}
	return err
}

var errEnded = errors.New("the server ended before it was ready")

func (s *Server) startAt(ctx context.Context, launcher Provider, place Place) error {
	in, err := launcher.Launch(ctx, s.topology, s.recipe, place)
	if err != nil {
		return fmt.Errorf("cannot start %s: %w", s.Name(), err)
	}
	place = in.Place()
	s.mu.Lock()
	s.place, s.instance = place, in
	s.mu.Unlock()
	s.serves(place, in.Pid())
	log, begun := place.Log(), time.Now()
	var last error // but for what the end of our patience made of a question
	for {
		err := s.ready(ctx, place, listener(place, in))
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-in.Done():
			return fmt.Errorf("cannot start server %s: %w (log: %s): %s", s.Name(), errEnded, log, s.lastWords(log))
		case <-ctx.Done():
			if Foreign(s.provider) {
				return fmt.Errorf("the existing server %s does not answer as lockstorm expects: %w", s.Name(), last)
			}
			killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
			defer cancel()
			return errors.Join(fmt.Errorf("server %s was not ready at %s within %v: %w (log: %s)%s",
				s.Name(), place.Addr(), startTimeout, last, log, tail(log)), in.Kill(killing))
		case <-time.After(max(probeEvery, time.Since(begun)/probeShare)):
		}
	}
}

// ready is nil where the server serves.
func (s *Server) ready(ctx context.Context, place Place, pid int) error {
	if err := s.recipe.Ready(ctx, place.Addr(), pid); err != nil || s.recipe.ReadyAt == nil {
		return err
	}
	return s.recipe.ReadyAt(ctx, place)
}

// tailLines are those of a log that an error quotes.
const tailLines = 5

// tail returns the last lines of a log, to follow an error.
func tail(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if lines[0] == "" {
		return ": the server's log is empty"
	}
	return ":\n  " + strings.Join(lines[max(len(lines)-tailLines, 0):], "\n  ")
}

// listener is the process that must be seen to listen; 0 where no other one can.
func listener(place Place, in Instance) int {
	if place.OwnAddress {
		return 0
	}
	return in.Pid()
}

// serves tells the network where the ports are, and who has them: peers may call before it
// serves.
func (s *Server) serves(place Place, pid int) {
	if s.network == nil {
		return
	}
	if Foreign(s.provider) {
		s.network.Serve(s.Name(), "", place.Addr())
		return
	}
	s.network.Runs(s.Name(), pid)
	for _, p := range s.recipe.ports() {
		s.network.Serve(s.Name(), p.Name, place.addrOf(p.Name))
	}
}

func (s *Server) stop(ctx context.Context) error {
	var err error
	if in := s.current(); in != nil {
		stopping, cancel := context.WithTimeout(ctx, stopTimeout)
		defer cancel()
		err = in.Terminate(stopping)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	return errors.Join(err, s.closeDisk(ctx))
}

// lastWords are what the server said last, and what to do about it where its recipe knows.
func (s *Server) lastWords(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	said := strings.TrimSpace(string(b))
	last := said[strings.LastIndexByte(said, '\n')+1:]
	if s.recipe.Hint != nil {
		if hint := s.recipe.Hint(said); hint != "" {
			return last + "; " + hint
		}
	}
	return last
}

// Answers returns nil if the server serves, asked past all links.
func (s *Server) Answers(ctx context.Context) error {
	s.mu.Lock()
	place := s.place
	s.mu.Unlock()
	return s.ready(ctx, place, 0)
}

// Pid returns the server's process now.
func (s *Server) Pid() int { return s.current().Pid() }

// Promote makes a follower the leader, in a topology where we decide that, and returns the proof.
func (s *Server) Promote(ctx context.Context) (string, error) {
	s.op.Lock()
	defer s.op.Unlock()
	p, ok := As[Promoter](s)
	if !ok {
		return "", fmt.Errorf("lockstorm cannot promote %s: this kind of server has no command that makes a replica the master",
			s.Name())
	}
	if err := p.Promote(ctx); err != nil {
		return "", fmt.Errorf("cannot promote %s: %w", s.Name(), err)
	}
	s.setFollows(false)
	return s.Name() + " was promoted to master, and accepts writes", nil
}

// Rejoin starts a dead server again as a follower and without its data, which the present leader may lack.
func (s *Server) Rejoin(ctx context.Context) (string, error) {
	if !s.Down() {
		return "", fmt.Errorf("%s is still running: lockstorm can make a server a follower only after the server has died", s.Name())
	}
	s.op.Lock()
	err := s.closeDisk(ctx)
	if t := s.recipe.Template; t != nil {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.place.Dir, t.Dir)))
	}
	s.setFollows(true)
	s.prepared = false
	s.op.Unlock()
	if err != nil {
		return "", err
	}
	proof, err := s.Restart(ctx)
	return proof + "; this server is now a follower, and lockstorm has deleted its old data", err
}

func (s *Server) setFollows(follows bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place.Follows = follows
}
