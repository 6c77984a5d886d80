package redis

import (
	"context"
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
	w := &watchdog{lease: lease{l: l, req: req, info: info, release: releaseLua}, stop: make(chan struct{}), done: make(chan struct{})}
	go w.run(context.WithoutCancel(ctx))
	return w, nil
}

type watchdog struct {
	lease
	once sync.Once
	stop chan struct{}
	done chan struct{}
}

var _ backends.Renewer = (*watchdog)(nil)

// StopRenewing ends the renewals and waits for the one under way.
func (w *watchdog) StopRenewing() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

// Release stops the renewals and gives the key back if it is still its own.
func (w *watchdog) Release(ctx context.Context) error {
	w.StopRenewing()
	return w.lease.Release(ctx)
}

func (w *watchdog) run(ctx context.Context) {
	defer close(w.done)
	deadline := w.info.Deadline
	tick := time.NewTicker(w.req.TTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		if w.l.env.Now() >= deadline {
			w.req.Hooks.Lost(w.info.Lease, "its deadline passed before a renewal")
			return
		}
		r, held, err := w.renew(ctx)
		switch {
		case err != nil: // unknown: try again until the deadline
		case !held:
			w.req.Hooks.Lost(w.info.Lease, "the server no longer has the key")
			return
		default:
			deadline = r.Deadline
		}
	}
}

func (w *watchdog) renew(ctx context.Context) (backends.Renewal, bool, error) {
	done, err := w.req.Hooks.Renewing(w.info.Lease)
	if err != nil {
		return backends.Renewal{}, true, err
	}
	r := backends.Renewal{Sent: w.l.env.Now(), TTL: w.req.TTL}
	r.Deadline = r.Sent + w.req.TTL.Nanoseconds()
	n, err := eval(ctx, w.l, renewScript, []string{w.l.key(w.req.Lock)}, w.info.Owner, w.req.TTL.Milliseconds())
	if err = classify(err); err == nil && n == 0 {
		done(r, backends.ErrNotHeld)
		return r, false, nil
	}
	done(r, err)
	return r, true, err
}
