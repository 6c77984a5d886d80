package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
)

// renewScript extends the key only while it holds the caller's value.
var renewScript = goredis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`)

// takeWatchdog is SET NX PX with a goroutine that extends the key every third of its
// time to live, tells of the loss, and keeps a deadline of its own, measured from
// before each request.
func takeWatchdog(ctx context.Context, l *lock, req backends.Request) (backends.Lease, error) {
	info, err := l.setNX(ctx, req, req.TTL)
	if err != nil {
		return nil, err
	}
	own := &lease{l: l, req: req, info: info, release: releaseLua}
	return Watch(ctx, own, l.env.Now, req, own.extend), nil
}

// Extender asks for a lease to be extended. held is false where the store says that it is
// not the caller's any more; an error says that nothing is known.
type Extender func(ctx context.Context) (r backends.Renewal, held bool, err error)

// Watchdog is a lease that is extended in the background.
type Watchdog struct {
	backends.Lease
	now    func() int64
	req    backends.Request
	extend Extender

	once sync.Once
	stop chan struct{}
	done chan struct{}
}

// Watch begins to extend a lease every third of its time to live.
func Watch(ctx context.Context, l backends.Lease, now func() int64, req backends.Request, extend Extender) *Watchdog {
	w := &Watchdog{Lease: l, now: now, req: req, extend: extend, stop: make(chan struct{}), done: make(chan struct{})}
	go w.run(context.WithoutCancel(ctx))
	return w
}

var _ backends.Renewer = (*Watchdog)(nil)

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
			w.req.Hooks.Lost(lease, "its deadline passed before a renewal")
			return
		}
		r, held, err := w.renew(ctx, lease)
		switch {
		case err != nil: // unknown: try again until the deadline
		case !held:
			w.req.Hooks.Lost(lease, "the server no longer has the key")
			return
		default:
			deadline = r.Deadline
		}
	}
}

// renew records and carries out one renewal.
func (w *Watchdog) renew(ctx context.Context, lease string) (backends.Renewal, bool, error) {
	done, err := w.req.Hooks.Renewing(lease)
	if err != nil {
		return backends.Renewal{}, true, err
	}
	r, held, err := w.extend(ctx)
	if err == nil && !held {
		done(r, backends.ErrNotHeld)
		return r, false, nil
	}
	done(r, err)
	return r, true, err
}

var (
	_ backends.Extender = (*lease)(nil)
	_ backends.Asker    = (*lease)(nil)
	_ backends.Extender = (*redlockLease)(nil)
)

// Extend is one extension that its user asks for.
func (l *lease) Extend(ctx context.Context) (backends.Renewal, error) { return called(l.extend(ctx)) }

// Held looks whether the key has the lease's own value.
func (l *lease) Held(ctx context.Context) (bool, error) {
	owner, err := l.l.client.Get(ctx, l.l.key(l.req.Lock)).Result()
	if errors.Is(err, goredis.Nil) {
		return false, nil
	}
	return owner == l.info.Owner, err
}

// called is what an extension amounts to for who asked for it.
func called(r backends.Renewal, held bool, err error) (backends.Renewal, error) {
	if err == nil && !held {
		err = backends.ErrNotHeld
	}
	return r, err
}

// extend prolongs the key while it holds the lease's own value.
func (l *lease) extend(ctx context.Context) (backends.Renewal, bool, error) {
	r := backends.Renewal{Sent: l.l.env.Now(), TTL: l.req.TTL}
	r.Deadline = r.Sent + l.req.TTL.Nanoseconds()
	_, err := l.l.eval(ctx, renewScript, backends.ErrNotHeld, []string{l.l.key(l.req.Lock)}, l.info.Owner, l.req.TTL.Milliseconds())
	if errors.Is(err, backends.ErrNotHeld) {
		return r, false, nil
	}
	return r, true, err
}
