package workloads

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// Resource is the protected data: see package backends, since stores offer it, too.
type Resource = backends.Resource

// Access is the resource under one grant.
type Access = backends.Access

// ClientConfig is the configuration of a recorded client.
type ClientConfig struct {
	Name       string
	Index      int64 // number of the client, from 1: its processes are Index*1e6 + n
	Recorder   *history.Recorder
	Registers  []string // the registers that a section may use, in order
	Fencing    string   // history.Fencing constants
	Trusting   bool     // goes on after a deadline or a loss
	OnlyTold   bool     // knows no deadline: it goes on until it is told of a loss
	AsksMethod bool     // asks a method of its library, once a deadline has passed, whether the lock is held
	NoTry      bool     // the lock cannot be tried: every attempt waits
	Settles    bool     // writes under a grant take effect with its release
	NoTokens   bool     // the lock issues no tokens: those on its grants do not count
	TTL        time.Duration
	Gate       Gate
	Wire       func() history.Wire // returns what the client has sent and read so far; nil: it is not counted
	Rand       *rand.Rand          // seeded: owner nonces
	OnLogError func(error)
}

// Client performs operations and records them: an invoke is in its log before its request leaves, and an error that
// leaves the outcome open is recorded as info.
type Client struct {
	cfg       ClientConfig
	locker    backends.Locker
	resource  Resource
	sessions  *sessions
	unsettled []*Hold      // released, and what they wrote takes effect with another release
	last      atomic.Int64 // last process number given out
	process   int64        // of the section's goroutine
	grants    int64
}

// processesPerClient is the distance between the process numbers of two clients.
const processesPerClient = 1_000_000

// NewClient returns a recorded client. Call Use to give it a lock.
func NewClient(cfg ClientConfig) *Client {
	c := &Client{cfg: cfg}
	c.sessions = &sessions{c: c, all: map[string]*session{}}
	c.last.Store(cfg.Index * processesPerClient)
	c.process = c.newProcess()
	return c
}

// Use sets the lock that the client drives, and the resource; nil: none.
func (c *Client) Use(l backends.Locker, r Resource) { c.locker, c.resource = l, r }

// Name returns the client's name in the history.
func (c *Client) Name() string { return c.cfg.Name }

// Registers returns the registers of the run, in the order in which a section uses them.
func (c *Client) Registers() []string { return c.cfg.Registers }

func (c *Client) newProcess() int64 { return c.last.Add(1) }

// invoke records the start of an operation; when that fails the operation must not be
// sent.
func (c *Client) invoke(e history.Line) error {
	e.Type = history.Invoke
	_, err := c.record(e)
	return err
}

func (c *Client) record(e history.Line) (int64, error) {
	e.Client = c.cfg.Name
	t, err := c.cfg.Recorder.Record(e)
	if err != nil {
		c.cfg.OnLogError(err)
	}
	return t, err
}

// done records the return of the section's current operation. After an unknown outcome
// the client goes on under a new process number.
func (c *Client) done(e history.Line, err error) error {
	logErr := c.returned(e, err)
	if outcome, _ := backends.Outcome(err); outcome == history.Info {
		c.process = c.newProcess()
	}
	return logErr
}

// returned records the return of an operation.
func (c *Client) returned(e history.Line, err error) error {
	e.Type, e.Error = backends.Outcome(err)
	if err != nil && e.Error != history.ErrBusy {
		e.Message = err.Error()
	}
	_, logErr := c.record(e)
	return logErr
}

// op is the common part of an operation of the section's goroutine.
func (c *Client) op(f, lock, grant string) history.Line {
	return history.Line{Process: history.Process{N: c.process}, F: f, Lock: lock, Grant: grant}
}

// notice records something that the client learned, outside its operations.
func (c *Client) notice(e history.Line) {
	e.Client = c.cfg.Name
	if err := c.cfg.Recorder.Notice(e); err != nil {
		c.cfg.OnLogError(err)
	}
}

// Ask is a request for a lock.
type Ask struct {
	Lock string
	Try  bool   // one try, no waiting
	Mode string // "" is exclusive, history.ModeShared that of readers
	// Within is a hold of the same lock under which the same owner asks for it again: for reentrant locks, and for up-
	// and downgrades.
	Within *Hold
	Token  string // the user's own owner value, instead of a nonce
	Reuse  bool   // use the lock object of the last request again, if there is one
}

// Acquire asks for the lock. It returns nil if the lock was not granted; an error means that the client must stop.
func (c *Client) Acquire(ctx context.Context, ask Ask) (*Hold, error) {
	c.grants++
	h := &Hold{c: c, Lock: ask.Lock, Mode: ask.Mode, Grant: fmt.Sprintf("%s-%d", c.cfg.Name, c.grants)}
	c.cfg.Gate.Reach(ctx, history.AtBeforeAcquire, h.spot())
	f, acquire := history.FAcquire, c.locker.Acquire
	if ask.Try && !c.cfg.NoTry {
		f, acquire = history.FTryAcquire, c.locker.TryAcquire
	}
	e := c.op(f, ask.Lock, h.Grant)
	e.Mode, e.Owner = ask.Mode, fmt.Sprintf("%s-%016x", h.Grant, c.cfg.Rand.Uint64())
	req := backends.Request{Lock: ask.Lock, Mode: ask.Mode, TTL: c.cfg.TTL, Reuse: ask.Reuse, Hooks: h.hooks()}
	switch {
	case ask.Within != nil:
		e.Owner = ask.Within.info.Owner
	case ask.Token != "":
		e.Owner, req.Lease = ask.Token, e.Owner
	}
	req.Owner = e.Owner
	if err := c.invoke(e); err != nil {
		return nil, err
	}
	before := c.wire()
	lease, err := acquire(ctx, req)
	if c.cfg.Wire != nil {
		now := c.wire()
		e.Value = history.ValueOf(history.Wire{Requests: now.Requests - before.Requests, Answers: now.Answers - before.Answers})
	}
	if err == nil {
		h.granted(lease, &e)
	}
	if logErr := c.done(e, err); logErr != nil || err != nil {
		return nil, logErr
	}
	c.cfg.Gate.Reach(ctx, history.AtAcquired, h.spot())
	return h, nil
}

// wire is what was counted so far.
func (c *Client) wire() (w history.Wire) {
	if c.cfg.Wire != nil {
		w = c.cfg.Wire()
	}
	return w
}

// granted takes over what the backend says of the grant, into the hold and the event.
func (h *Hold) granted(lease backends.Lease, e *history.Line) {
	info := lease.Info()
	info.Owner = cmp.Or(info.Owner, e.Owner) // a backend that does not say it uses what it was given
	info.HasToken = info.HasToken && !h.c.cfg.NoTokens
	h.lease, h.info = lease, info
	h.mu.Lock()
	h.nodes = info.Nodes
	h.mu.Unlock()
	e.Owner, e.Lease, e.Nodes = info.Owner, info.Lease, info.Nodes
	e.Sent = history.Some(info.Sent)
	if info.Lease != "" {
		e.TTL, e.Deadline = history.Some(info.TTL.Nanoseconds()), history.Some(info.Deadline)
		h.extend(info.Deadline)
	}
	if info.HasToken {
		e.Token = history.Some(info.Token)
	}
	h.c.sessions.join(h)
}
