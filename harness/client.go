package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/nemesis"
)

// client is the controller's handle on one worker process.
type client struct {
	*proc.Process
	name    string
	index   int64
	ch      *control.Channel
	out     *control.Outbox // what it is told
	tail    *tail
	ready   chan struct{}
	done    chan struct{}
	ended   chan struct{} // the channel was closed
	onHit   func(*client, control.Message)
	onFail  func()      // it cannot go on
	logPath string      // what it records
	errPath string      // its standard error
	killed  atomic.Bool // by a fault, on record
	// collected has the answers to what Collect asks, one at a time.
	collected  chan control.Message
	collecting sync.Mutex
	ending     atomic.Bool  // it was told to end
	stops      atomic.Int64 // how often faults have stopped it

	mu     sync.Mutex
	failed error
}

var _ nemesis.Client = (*client)(nil)

// Name is the client's name in the history.
func (c *client) Name() string { return c.name }

// Doing is what the client's log says it is doing.
func (c *client) Doing() nemesis.Doing { return c.tail.doing(c.name) }

// Pause stops every thread of the client's process group. Until it is resumed, it is sent no message.
func (c *client) Pause(ctx context.Context) (string, error) {
	c.out.Hold()
	c.stops.Add(1)
	proof, err := c.Process.Pause(ctx)
	if err != nil {
		c.out.Release()
	}
	return proof, err
}

// Resume lets the client go on. What it was told meanwhile is on its way to it by then.
func (c *client) Resume(ctx context.Context) (string, error) {
	c.out.Release()
	return c.Process.Resume(ctx)
}

// Kill ends the client's process group with SIGKILL.
func (c *client) Kill(ctx context.Context) error {
	c.killed.Store(true)
	return c.Process.Kill(ctx)
}

// listen takes the worker's messages until its channel ends. A worker that ends although
// nobody killed it or told it to is trouble.
func (c *client) listen() {
	defer close(c.ended)
	heard := false
	for {
		m, err := c.ch.Receive()
		if err != nil {
			if !c.killed.Load() && !c.ending.Load() && c.failure() == nil { // it may have said why
				c.trouble(err, heard)
			}
			return
		}
		heard = true
		switch m.Op {
		case control.Ready:
			close(c.ready)
		case control.Reached:
			c.onHit(c, m)
		case control.Collected:
			select {
			case c.collected <- m:
			default: // nobody waits for it any more
			}
		case control.Done:
			close(c.done)
		case control.Failed:
			c.fail(errors.New(m.Text))
			c.onFail()
		}
	}
}

// trouble notes why the worker is of no use any more.
func (c *client) trouble(err error, heard bool) {
	if errors.Is(err, control.ErrDeaf) {
		c.fail(err)
		c.onFail()
		return
	}
	c.fail(c.howEnded(err, heard))
}

// howEnded says how a worker ended that nobody told to, what it said last, and whether it was heard of at all.
func (c *client) howEnded(err error, heard bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if end := c.Wait(ctx); end != nil {
		err = end // it tells more than the end of the channel
	}
	text, _ := os.ReadFile(c.errPath) // it only adds to the error
	if !heard {
		err = fmt.Errorf("%w before the client was ready (check that main calls lockstorm.Main first, or TestMain lockstormtest.Main)",
			err)
	}
	if len(text) == 0 {
		return fmt.Errorf("the client's process ended by itself: %w", err)
	}
	return fmt.Errorf("the client's process ended by itself: %w: %s (output: %s)", err, bytes.TrimSpace(text), c.errPath)
}

func (c *client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = errors.Join(c.failed, err)
}

// failure returns why the worker gave up or ended; nil if it was killed or told to stop.
func (c *client) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return fmt.Errorf("client %s: %w", c.name, c.failed)
	}
	return nil
}

// startClient starts a worker process and gives it its configuration.
func (s *session) startClient(ctx context.Context) (*client, error) {
	s.mu.Lock()
	s.lastClient++
	index := s.lastClient
	s.mu.Unlock()
	name := fmt.Sprintf("c%d", index)
	ours, theirs, err := control.SocketPair()
	if err != nil {
		return nil, err
	}
	errPath := filepath.Join(s.dir, history.LogDir, name+".stderr")
	p, err := s.startWorker(name, errPath, theirs)
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	c := &client{
		collected: make(chan control.Message, 1),
		Process:   p, name: name, index: index, logPath: s.logPath(name), errPath: errPath, ch: ours,
		tail: s.tail, onHit: s.points.reached, onFail: s.giveUp,
		out: control.NewOutbox(ours, control.SendLimit), ready: make(chan struct{}), done: make(chan struct{}),
		ended: make(chan struct{}),
	}
	go c.listen()
	cfg, cfgErr := s.workerConfig(name, index)
	if cfgErr == nil {
		cfgErr = c.out.Send(control.Message{Op: control.Configure, Config: &cfg}) // before anything else can be sent
	}
	s.enlist(c)
	if cfgErr != nil {
		return nil, cfgErr
	}
	for _, n := range s.cluster.Servers() { // one may have moved since its configuration was written
		if s.r.links&nemesis.ToServers != 0 {
			break // links know
		}
		c.out.Send(control.Message{Op: control.Move, Node: n.Name(), Addr: n.Addr()}) //nolint:errcheck // awaitReady tells why it has ended
	}
	if err := errors.Join(s.awaitReady(ctx, c, errPath), s.tail.follow(name, cfg.LogPath)); err != nil {
		return nil, err
	}
	s.retiring.Go(func() { s.retire(c) })
	return c, nil
}

// startWorker starts the process with its end of the channel, which it takes over.
func (s *session) startWorker(name, errPath string, control *os.File) (*proc.Process, error) {
	defer control.Close() //nolint:errcheck // the child has its own descriptor
	cmd, err := childCommand(childWorker)
	if err != nil {
		return nil, err
	}
	stderr, err := os.OpenFile(errPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer stderr.Close() //nolint:errcheck // as above
	cmd.ExtraFiles, cmd.Stderr = []*os.File{control}, stderr
	if s.r.backend.Beside {
		return s.workers.StartSprawling(name, cmd)
	}
	return s.workers.Start(name, cmd)
}

// How long a client may take to be ready: longer where it starts beside many others.
const (
	readyLimit = 20 * time.Second
	readyEach  = 200 * time.Millisecond
)

func (s *session) awaitReady(ctx context.Context, c *client, errPath string) error {
	limit := readyLimit + time.Duration(s.r.Clients)*readyEach
	if s.r.backend.Beside { // a virtual machine, and the connections of its library
		limit *= 3
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-c.ready:
		return nil
	case <-c.Done():
		<-c.ended
		text, _ := os.ReadFile(errPath) // it only adds to the error
		if err := c.failure(); err != nil {
			return err
		}
		return fmt.Errorf("client %s ended before it was ready: %s", c.name, text)
	case <-ctx.Done():
		return fmt.Errorf("client %s did not become ready for the run in time: %w", c.name, ctx.Err())
	}
}
