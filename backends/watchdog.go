package backends

import (
	"context"
	"errors"
	"sync"
	"time"
)

// extending asks for a lease to be extended, as [Extender] does.
type extending func(ctx context.Context) (Renewal, error)

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

// Watch extends a lease every third of its time to live, from now on.
func Watch(ctx context.Context, l Lease, now func() int64, req Request, extend extending) *Watchdog {
	w := &Watchdog{Lease: l, now: now, req: req, extend: extend, stop: make(chan struct{}), done: make(chan struct{})}
	go w.run(context.WithoutCancel(ctx))
	return w
}

// StopRenewing ends the renewals and waits for a running one.
func (w *Watchdog) StopRenewing() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

// Release stops the renewals and releases the lock if the client still holds it.
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
		switch r, err := w.renew(ctx, lease); {
		case errors.Is(err, ErrNotHeld):
			w.req.Hooks.Lost(lease, "the server reports that the client no longer holds the lock")
			return
		case err == nil:
			deadline = r.Deadline
		} // else unknown: try again until the deadline
	}
}

// renew records and carries out one renewal.
func (w *Watchdog) renew(ctx context.Context, lease string) (Renewal, error) {
	done, err := w.req.Hooks.Renewing(lease)
	if err != nil {
		return Renewal{}, err
	}
	r, err := w.extend(ctx)
	done(r, err)
	return r, err
}
