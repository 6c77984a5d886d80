package redislibs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redis"
)

// openRedsync opens go-redsync on every node.
func openRedsync(setNXOnExtend bool) func(context.Context, backends.Env) (backends.Locker, error) {
	return func(_ context.Context, env backends.Env) (backends.Locker, error) {
		cs, err := clients(env, max(1, len(env.Nodes)))
		if err != nil {
			return nil, err
		}
		var pools []redsyncredis.Pool
		var closers []func() error
		for _, c := range cs {
			pools, closers = append(pools, goredis.NewPool(c)), append(closers, c.Close)
		}
		r := &redsyncLock{env: env, sync: redsync.New(pools...), nodes: len(pools), extends: setNXOnExtend}
		return &polled{env: env, try: r.try, close: func() error {
			var errs []error
			for _, c := range closers {
				errs = append(errs, c())
			}
			return errors.Join(errs...)
		}}, nil
	}
}

type redsyncLock struct {
	env     backends.Env
	sync    *redsync.Redsync
	nodes   int
	extends bool
	tries   int // so far: each has an owner of its own
}

func (r *redsyncLock) quorum() int { return r.nodes/2 + 1 }

// try makes one attempt. Which nodes granted, redsync does not tell.
func (r *redsyncLock) try(ctx context.Context, req backends.Request) (backends.Lease, error) {
	r.tries++ // what a node does late, of an earlier try, is not taken for this one's
	req.Owner = fmt.Sprintf("%s.%d", req.Owner, r.tries)
	opts := []redsync.Option{
		redsync.WithExpiry(req.TTL), redsync.WithTries(1),
		redsync.WithGenValueFunc(func() (string, error) { return req.Owner, nil }),
	}
	if r.extends {
		opts = append(opts, redsync.WithSetNXOnExtend())
	}
	m := r.sync.NewMutex(redis.Keys(r.env.Run, req.Lock)[0], opts...)
	sent := r.env.Now()
	if err := m.TryLockContext(ctx); err != nil {
		if r.refused(err) {
			return nil, fmt.Errorf("%w: %w", backends.ErrBusy, err)
		}
		return nil, unknown(err)
	}
	l := &redsyncLease{r: r, m: m, req: req}
	l.info = backends.Info{Owner: req.Owner, Lease: req.Owner, Sent: sent, TTL: req.TTL, Deadline: l.until()}
	if r.extends {
		return redis.Watch(ctx, l, r.env.Now, req, l.extend), nil
	}
	return l, nil
}

// unknown hides the definite errors of single nodes: together they say nothing.
func unknown(err error) error { return fmt.Errorf("no majority either way: %v", err) } //nolint:errorlint // hidden on purpose

// refused reports whether a majority certainly did not grant: it said no, or was not asked.
func (r *redsyncLock) refused(err error) bool {
	no, unasked := tally(err)
	return no+unasked >= r.quorum()
}

// notHeld reports whether a majority said that the lock is not the caller's. A node that
// was not asked said nothing.
func (r *redsyncLock) notHeld(err error) bool {
	no, _ := tally(err)
	return no >= r.quorum()
}

// tally counts the nodes that said no, and those that were certainly not asked, in the
// errors that redsync joins. Of those of single nodes it drops all when a majority said no.
func tally(err error) (no, unasked int) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			n, u := tally(e)
			no, unasked = no+n, unasked+u
		}
		return no, unasked
	}
	var majority *redsync.ErrTaken
	var taken *redsync.ErrNodeTaken
	var node *redsync.RedisError
	switch {
	case errors.As(err, &majority):
		return len(majority.Nodes), 0
	case errors.As(err, &taken), errors.Is(err, redsync.ErrLockAlreadyExpired):
		return 1, 0
	case errors.As(err, &node) && errors.Is(redis.Classify(node.Err), backends.ErrNotSent):
		return 0, 1
	}
	return 0, 0
}

type redsyncLease struct {
	r    *redsyncLock
	m    *redsync.Mutex
	req  backends.Request
	info backends.Info
}

// until is the end of the validity that redsync states, on the run's clock.
func (l *redsyncLease) until() int64 {
	return l.r.env.Now() + time.Until(l.m.Until()).Nanoseconds()
}

// Info is what was granted.
func (l *redsyncLease) Info() backends.Info { return l.info }

// Release deletes the key at every node.
func (l *redsyncLease) Release(ctx context.Context) error {
	ok, err := l.m.UnlockContext(ctx)
	switch {
	case ok:
		return nil
	case l.r.notHeld(err):
		return backends.ErrNotHeld
	default:
		return unknown(err)
	}
}

// extend prolongs the key at every node, or sets it anew.
func (l *redsyncLease) extend(ctx context.Context) (backends.Renewal, bool, error) {
	re := backends.Renewal{Sent: l.r.env.Now(), TTL: l.req.TTL}
	ok, err := l.m.ExtendContext(ctx)
	switch {
	case ok:
		re.Deadline = l.until()
		return re, true, nil
	case l.r.notHeld(err):
		return re, false, nil
	default:
		return re, true, unknown(err)
	}
}
