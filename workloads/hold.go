package workloads

import (
	"context"
	"errors"
	"sync"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// Hold is a granted lock as its client sees it.
type Hold struct {
	Lock  string
	Grant string
	Mode  string

	c      *Client
	lease  backends.Lease
	info   backends.Info
	access Access

	mu        sync.Mutex
	nodes     []string    // that granted
	deadline  history.Opt // in force: of the grant or its last renewal
	lost      bool
	overdue   bool           // its deadline had passed when the client looked, and nothing had told it of a loss
	unsettled []history.Line // writes that take effect with the release
	renewer   *renewer       // of a lease of its own; nil: none yet
}

// Valid reports whether the client may still act as the holder, by its discipline. A trusting client always may; one
// that goes by what it is told knows no deadline, unless its library has a method to ask, which would say no from the
// deadline on.
func (h *Hold) Valid() bool {
	if h.c.cfg.Trusting {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.c.cfg.OnlyTold && h.deadline.Set && h.c.cfg.Recorder.Clock().Now() >= h.deadline.V {
		h.overdue = !h.lost
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
	return Spot{
		Lock: h.Lock, Grant: h.Grant, Lease: h.info.Lease, Connection: h.info.Connection, Deadline: h.deadline,
		Nodes: h.nodes,
	}
}

// Reach reports that the section's goroutine is at a point under this grant. It blocks while a fault holds it there.
// Make the request that follows the point without another check.
func (h *Hold) Reach(ctx context.Context, point string) { h.c.cfg.Gate.Reach(ctx, point, h.spot()) }

// hooks let the backend report its points, renewals and losses.
func (h *Hold) hooks() backends.Hooks {
	return backends.Hooks{Point: h.Reach, Renewing: h.renewing, GivingUp: h.givingUp, Lost: h.loss}
}

func (h *Hold) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
}

// loss records that the client learned of the loss of its lease.
func (h *Hold) loss(lease, reason string) {
	h.lose()
	h.c.notice(history.Line{F: history.FLost, Lock: h.Lock, Grant: h.Grant, Lease: lease, Message: reason})
}

// renewing records one renewal under the renewer's own process number.
func (h *Hold) renewing(lease string) (func(backends.Renewal, error), error) {
	h.mu.Lock()
	if h.renewer == nil {
		h.renewer = &renewer{c: h.c, lock: h.Lock, grant: h.Grant, extended: h.extend}
	}
	r := h.renewer
	h.mu.Unlock()
	return r.renewing(lease)
}

// givingUp records a release that the backend makes unasked, under a process number of its own: the client's own
// release may still follow.
func (h *Hold) givingUp(lease, reason string) (func(error), error) {
	if !h.c.cfg.OnlyTold { // else the library tells, sooner or later
		h.loss(lease, reason)
	}
	e := history.Line{
		Process: history.Process{N: h.c.newProcess()}, F: history.FRelease, Lock: h.Lock, Grant: h.Grant, Lease: lease, Message: reason,
		Value: history.ValueOf(history.Unasked{Unasked: true}),
	}
	if err := h.c.invoke(e); err != nil {
		return nil, err
	}
	return func(err error) { h.c.returned(e, err) }, nil //nolint:errcheck // the client is told by OnLogError
}

// open opens the resource under this grant, once, and uses it.
func (h *Hold) open(ctx context.Context, use func(Access) error) (err error) {
	if h.access == nil {
		if h.access, err = h.c.resource.Open(ctx, h.Lock, h.Grant, h.info); err != nil {
			return err
		}
	}
	return use(h.access)
}

// Read reads a register. known is false if no value came back; an error means that the client must stop.
func (h *Hold) Read(ctx context.Context, register string) (value int64, known bool, err error) {
	e := h.use(history.FRead, register)
	if err := h.c.invoke(e); err != nil {
		return 0, false, err
	}
	opErr := h.open(ctx, func(a Access) (err error) { value, err = a.Read(ctx, register); return err })
	if opErr == nil {
		e.Value.Base = history.Some(value)
	}
	h.refused(opErr)
	return value, opErr == nil, h.c.done(e, opErr)
}

// Write replaces base, which was read under the same grant, by value. known is false if no answer says whether it
// did; an error means that the client must stop.
func (h *Hold) Write(ctx context.Context, register string, base, value int64) (known bool, err error) {
	e := h.use(history.FWrite, register)
	e.Value = history.Value{Base: history.Some(base), New: history.Some(value)}
	if h.c.cfg.Settles {
		return h.writeToSettle(ctx, e)
	}
	if err := h.c.invoke(e); err != nil {
		return false, err
	}
	opErr := h.open(ctx, func(a Access) error { return a.Write(ctx, register, base, value) })
	h.refused(opErr)
	outcome, _ := backends.Outcome(opErr)
	return outcome != history.Info, h.c.done(e, opErr)
}

// Work records that the client acts as the holder without touching a register. It calls do, if not nil, between the
// invocation and the return; the error of do says what is known of the outcome, as those of package backends do.
// value is recorded with it, for checks of your own.
func (h *Hold) Work(ctx context.Context, value any, do func(ctx context.Context) error) error {
	e := h.c.op(history.FWork, h.Lock, h.Grant)
	if value != nil {
		e.Value = history.ValueOf(value)
	}
	if err := h.c.invoke(e); err != nil {
		return err
	}
	var err error
	if do != nil {
		err = do(context.WithoutCancel(ctx))
	}
	return h.c.done(e, err)
}

// refused takes a refusal by the fence as what it is: the lock is lost. Where both
// registers are used side by side it changes nothing for the plain one.
func (h *Hold) refused(err error) {
	if err == nil || h.c.cfg.Fencing != history.FencingOn {
		return
	}
	if _, code := backends.Outcome(err); code == history.ErrStaleToken {
		h.loss(h.info.Lease, "the data store refused the fencing token of the client, because the token is outdated")
	}
}

func (h *Hold) use(f, register string) history.Line {
	e := h.c.op(f, h.Lock, h.Grant)
	e.Register = register
	if h.info.HasToken {
		e.Token = history.Some(h.info.Token)
	}
	return e
}

// Release gives the lock back. It first stops the renewer and waits for it.
func (h *Hold) Release(ctx context.Context) error {
	h.confirm(ctx)
	h.Reach(ctx, history.AtBeforeRelease)
	if r, ok := h.lease.(backends.Renewer); ok {
		r.StopRenewing()
	}
	e := h.c.op(history.FRelease, h.Lock, h.Grant)
	e.Owner, e.Lease = h.info.Owner, h.info.Lease
	if err := h.c.invoke(e); err != nil {
		return err
	}
	h.c.sessions.leave(h)
	h.Reach(ctx, history.AtReleasing)
	err := h.lease.Release(context.WithoutCancel(ctx))
	return errors.Join(h.c.settle(h, err), h.c.done(e, err))
}

// confirm asks the library of a client that goes by its answers whether the lock is held, where its deadline has passed: by then
// it must say no if somebody else has got the lock.
func (h *Hold) confirm(ctx context.Context) {
	h.mu.Lock()
	overdue := h.overdue
	h.mu.Unlock()
	asker, can := h.lease.(backends.Asker)
	if !h.c.cfg.AsksMethod || !overdue || !can {
		return
	}
	held, err := asker.Held(context.WithoutCancel(ctx))
	e := history.Line{
		F: history.FAsked, Lock: h.Lock, Grant: h.Grant, Lease: h.info.Lease,
		Value: history.ValueOf(history.Asked{Held: held && err == nil}),
	}
	if err != nil {
		e.Message = err.Error()
	}
	h.c.notice(e)
}

// writeToSettle makes a write that takes effect with the release: it is recorded under a process number of its own,
// and is answered when the release is.
func (h *Hold) writeToSettle(ctx context.Context, e history.Line) (known bool, err error) {
	e.Process = history.Process{N: h.c.newProcess()}
	if err := h.c.invoke(e); err != nil {
		return false, err
	}
	if opErr := h.open(ctx, func(a Access) error { return a.Write(ctx, e.Register, e.Value.Base.V, e.Value.New.V) }); opErr != nil {
		outcome, _ := backends.Outcome(opErr)
		return outcome != history.Info, h.c.returned(e, opErr)
	}
	h.unsettled = append(h.unsettled, e)
	return true, nil
}

// settle records what became of the writes under a hold that was released, and under those before it
// that were waiting for that.
func (c *Client) settle(h *Hold, released error) error {
	c.unsettled = append(c.unsettled, h)
	var errs []error
	var left []*Hold
	for _, one := range c.unsettled {
		done, came := true, released
		if s, ok := one.lease.(backends.Settler); ok {
			done, came = s.Settled()
		}
		if !done {
			left = append(left, one)
			continue
		}
		for _, e := range one.unsettled {
			errs = append(errs, c.returned(e, came))
		}
	}
	c.unsettled = left
	return errors.Join(errs...)
}
