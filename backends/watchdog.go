package backends

import (
	"context"
	"sync"
	"time"
)

// extending asks for a lease to be extended. held is false where the store says that it is
// not the caller's any more; an error says that nothing is known.
type extending func(ctx context.Context) (r Renewal, held bool, err error)

// Watchdog is a lease that is extended in the background.
type Watchdog struct {
	Lease
	now    func() int64
	req    Request
	extend extending

	once sync.Once
	stop chan struct{}
	done chan struct{}
}

// Watch begins to extend a lease every third of its time to live.
func Watch(ctx context.Context, l Lease, now func() int64, req Request, extend extending) *Watchdog {
	w := &Watchdog{Lease: l, now: now, req: req, extend: extend, stop: make(chan struct{}), done: make(chan struct{})}
	go w.run(context.WithoutCancel(ctx))
	return w
}

var _ Renewer = (*Watchdog)(nil)

// StopRenewing ends the renewals and waits for the one under way.
func (w *Watchdog) StopRenewing() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

// Release stops the renewals and gives the key back if it is still its own.
func (w *Watchdog) Release(ctx context.Context) error {
	w.StopRenewing()
	return w.Lease.Release(ctx)
}

func (w *Watchdog) run(ctx context.Context) {
	defer close(w.done)
	lease, deadline := w.Info().Lease, w.Info().Deadline
	tick := time.NewTicker(w.req.TTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		if w.now() >= deadline {
			w.req.Hooks.Lost(lease, "the lease's deadline passed before a renewal succeeded")
			return
		}
		r, held, err := w.renew(ctx, lease)
		switch {
		case err != nil: // unknown: try again until the deadline
		case !held:
			w.req.Hooks.Lost(lease, "the server reports that the client no longer holds the lock")
			return
		default:
			deadline = r.Deadline
		}
	}
}

// renew records and carries out one renewal.
func (w *Watchdog) renew(ctx context.Context, lease string) (Renewal, bool, error) {
	done, err := w.req.Hooks.Renewing(lease)
	if err != nil {
		return Renewal{}, true, err
	}
	r, held, err := w.extend(ctx)
	if err == nil && !held {
		done(r, ErrNotHeld)
		return r, false, nil
	}
	done(r, err)
	return r, true, err
}
