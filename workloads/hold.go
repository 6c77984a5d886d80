package workloads

import (
	"context"
	"sync"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// Hold is a granted lock as its client sees it.
type Hold struct {
	Lock  string
	Grant string

	c      *Client
	lease  backends.Lease
	info   backends.Info
	access Access

	mu       sync.Mutex
	nodes    []string    // that granted
	deadline history.Opt // in force: of the grant or its last renewal
	lost     bool
	renewer  int64 // process number of the renewals; 0: none yet
}

// Valid is the discipline's check: whether the client may still act as the holder. A
// trusting client always may.
func (h *Hold) Valid() bool {
	if h.c.cfg.Trusting {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.deadline.Set && h.c.cfg.Recorder.Clock().Now() >= h.deadline.V {
		h.lost = true
	}
	return !h.lost
}

func (h *Hold) extend(deadline int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.deadline.Set || deadline > h.deadline.V {
		h.deadline = history.Some(deadline)
	}
}

func (h *Hold) spot() Spot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Spot{Lock: h.Lock, Grant: h.Grant, Deadline: h.deadline, Nodes: h.nodes}
}

// reach is the point of the section's goroutine under this grant.
func (h *Hold) reach(ctx context.Context, point string) { h.c.cfg.Gate.Reach(ctx, point, h.spot()) }

// hooks let the backend report its points, renewals and losses.
func (h *Hold) hooks() backends.Hooks {
	return backends.Hooks{Point: h.reach, Renewing: h.renewing, GivingUp: h.givingUp, Lost: h.loss}
}

// loss records that the client learned of the loss of its lease.
func (h *Hold) loss(lease, reason string) {
	h.mu.Lock()
	h.lost = true
	h.mu.Unlock()
	h.c.notice(history.Event{F: history.FLost, Lock: h.Lock, Grant: h.Grant, Lease: lease, Message: reason})
}

// renewing records one renewal under the renewer's own process number.
func (h *Hold) renewing(lease string) (func(backends.Renewal, error), error) {
	h.mu.Lock()
	if h.renewer == 0 {
		h.renewer = h.c.newProcess()
	}
	e := history.Event{
		Process: history.Process{N: h.renewer}, F: history.FRenew,
		Lock: h.Lock, Grant: h.Grant, Lease: lease,
	}
	h.mu.Unlock()
	if err := h.c.invoke(e); err != nil {
		return nil, err // the client is stopping: its log cannot be written
	}
	return func(r backends.Renewal, err error) {
		e.Type, e.Error = backends.Outcome(err)
		if err == nil {
			e.Sent, e.TTL, e.Deadline = history.Some(r.Sent), history.Some(r.TTL.Nanoseconds()), history.Some(r.Deadline)
		} else {
			e.Message = err.Error()
		}
		if _, logErr := h.c.record(e); logErr == nil && err == nil {
			h.extend(r.Deadline)
		}
		if e.Type == history.Info {
			h.mu.Lock()
			h.renewer = h.c.newProcess()
			h.mu.Unlock()
		}
	}, nil
}

// givingUp records a release that the backend does by itself, under a process number of
// its own: the client's own release may still follow.
func (h *Hold) givingUp(lease, reason string) (func(error), error) {
	h.loss(lease, reason)
	e := history.Event{
		Process: history.Process{N: h.c.newProcess()}, F: history.FRelease, Lock: h.Lock, Grant: h.Grant, Lease: lease, Message: reason,
	}
	if err := h.c.invoke(e); err != nil {
		return nil, err
	}
	return func(err error) {
		e.Type, e.Error = backends.Outcome(err)
		if err != nil {
			e.Message = err.Error()
		}
		h.c.record(e) //nolint:errcheck // the client is told by OnLogError
	}, nil
}

// open opens the resource under this grant, once.
func (h *Hold) open(ctx context.Context) error {
	if h.access != nil {
		return nil
	}
	var err error
	h.access, err = h.c.cfg.Resource.Open(ctx, h.Lock, h.Grant, h.info)
	return err
}

// Read reads a register. known is false when no value came back; err means that the
// client must stop.
func (h *Hold) Read(ctx context.Context, register string) (value int64, known bool, err error) {
	e := h.use(history.FRead, register)
	if err := h.c.invoke(e); err != nil {
		return 0, false, err
	}
	opErr := h.open(ctx)
	if opErr == nil {
		value, opErr = h.access.Read(ctx, register)
	}
	if opErr == nil {
		e.Value.Base = history.Some(value)
	}
	h.refused(opErr)
	return value, opErr == nil, h.c.done(e, opErr)
}

// Write replaces base, which was read under the same grant, by value. known is false
// when no answer says whether it was; err means that the client must stop.
func (h *Hold) Write(ctx context.Context, register string, base, value int64) (known bool, err error) {
	e := h.use(history.FWrite, register)
	e.Value = history.Value{Base: history.Some(base), New: history.Some(value)}
	if err := h.c.invoke(e); err != nil {
		return false, err
	}
	opErr := h.open(ctx)
	if opErr == nil {
		opErr = h.access.Write(ctx, register, base, value)
	}
	h.refused(opErr)
	outcome, _ := backends.Outcome(opErr)
	return outcome != history.Info, h.c.done(e, opErr)
}

// Work records that the client acts as the holder without touching a register.
func (h *Hold) Work() error {
	e := h.c.op(history.FWork, h.Lock, h.Grant)
	if err := h.c.invoke(e); err != nil {
		return err
	}
	return h.c.done(e, nil)
}

// refused takes a refusal by the fence as what it is: the lock is lost. Where both
// registers are used side by side it changes nothing for the plain one.
func (h *Hold) refused(err error) {
	if err == nil || h.c.cfg.Fencing != history.FencingOn {
		return
	}
	if _, code := backends.Outcome(err); code == history.ErrStaleToken {
		h.loss(h.info.Lease, "the resource refused the fencing token")
	}
}

func (h *Hold) use(f, register string) history.Event {
	e := h.c.op(f, h.Lock, h.Grant)
	e.Register = register
	if h.info.HasToken {
		e.Token = history.Some(h.info.Token)
	}
	return e
}

// Release gives the lock back. The renewer is stopped and waited for first.
func (h *Hold) Release(ctx context.Context) error {
	h.reach(ctx, BeforeRelease)
	if r, ok := h.lease.(backends.Renewer); ok {
		r.StopRenewing()
	}
	e := h.c.op(history.FRelease, h.Lock, h.Grant)
	e.Owner, e.Lease = h.info.Owner, h.info.Lease
	if err := h.c.invoke(e); err != nil {
		return err
	}
	h.reach(ctx, Releasing)
	return h.c.done(e, h.lease.Release(context.WithoutCancel(ctx)))
}
