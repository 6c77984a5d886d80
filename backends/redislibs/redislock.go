package redislibs

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/internal/tap"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

var redislockParams = []catalog.Param{
	{Name: "backoff", Default: "100ms", Doc: "LinearBackoff: time between two tries while Obtain waits; without waiting it " +
		"tries once"},
}

func withRedislock(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	_, err := v.Length("backoff", time.Second)
	return s, err
}

// redislockLock is bsm/redislock on the first node.
type redislockLock struct {
	env     backends.Env
	tap     *tap.Tap
	client  *goredis.Client
	locker  *redislock.Client
	backoff time.Duration
}

func openRedislock(_ context.Context, env backends.Env) (backends.Locker, error) {
	if len(env.Nodes) == 0 {
		return nil, ErrNoServer
	}
	backoff, err := env.Values.Length("backoff", env.TTL)
	if err != nil {
		return nil, err
	}
	t := tap.New(env.Now)
	c := client(env, env.Nodes[0].Name, t)
	return &redislockLock{env: env, tap: t, client: c, locker: redislock.New(c), backoff: backoff}, nil
}

// Acquire waits as the library does: with a linear back-off, for one time to live at most.
func (l *redislockLock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return l.obtain(ctx, req, &announced{redislock.LinearBackoff(l.backoff), req.Waiting(ctx)})
}

// TryAcquire does not wait, which is the library's default.
func (l *redislockLock) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return l.obtain(ctx, req, nil)
}

// announced is a retry strategy that tells when the waiting begins.
type announced struct {
	redislock.RetryStrategy
	waits func()
}

// NextBackoff is asked for after each refusal.
func (a *announced) NextBackoff() time.Duration {
	a.waits()
	return a.RetryStrategy.NextBackoff()
}

func (l *redislockLock) obtain(ctx context.Context, req backends.Request, retry redislock.RetryStrategy) (backends.Lease, error) {
	trail := l.tap.Follow(req.Owner)
	defer trail.End()
	got, err := l.locker.Obtain(ctx, redis.Keys(l.env.Run, req.Lock)[0], req.TTL,
		&redislock.Options{Token: req.Owner, RetryStrategy: retry})
	if err != nil {
		return nil, trail.Certain(err, backends.ErrBusy, l.of(req.Lock))
	}
	sent := trail.Granted(l.of(req.Lock))
	info := backends.Info{
		Owner: got.Token(), Lease: req.LeaseName(), Sent: sent, TTL: req.TTL,
		Deadline: sent + req.TTL.Nanoseconds(),
	}
	return &redislockLease{l: l, lock: got, info: info}, nil
}

// of chooses what was sent about a lock: a token of the user's may be that of several.
func (l *redislockLock) of(lock string) func(tap.Send) bool {
	return tap.OfKey(redis.Keys(l.env.Run, lock)[0])
}

// Close closes the connections.
func (l *redislockLock) Close() error { return l.client.Close() }

type redislockLease struct {
	l    *redislockLock
	lock *redislock.Lock
	info backends.Info
}

var (
	_ backends.Extender = (*redislockLease)(nil)
	_ backends.Asker    = (*redislockLease)(nil)
)

// Info is what was granted.
func (r *redislockLease) Info() backends.Info { return r.info }

// Extend is the library's Refresh.
func (r *redislockLease) Extend(ctx context.Context) (backends.Renewal, error) {
	trail := r.l.tap.Follow(r.info.Owner)
	defer trail.End()
	re := backends.Renewal{Sent: r.l.env.Now(), TTL: r.info.TTL}
	err := r.lock.Refresh(ctx, r.info.TTL, nil)
	switch {
	case err == nil:
		re.Deadline = re.Sent + r.info.TTL.Nanoseconds()
		return re, nil
	case errors.Is(err, redislock.ErrNotObtained):
		return re, backends.ErrNotHeld // whenever it was lost, it is
	}
	return re, trail.Certain(err, backends.ErrNotHeld, tap.OfKey(r.lock.Key()))
}

// Held asks the server, by the library's TTL.
func (r *redislockLease) Held(ctx context.Context) (bool, error) {
	left, err := r.lock.TTL(ctx)
	return left > 0, err
}

// Release gives the lock back.
func (r *redislockLease) Release(ctx context.Context) error {
	trail := r.l.tap.Follow(r.info.Owner)
	defer trail.End()
	if err := r.lock.Release(ctx); err != nil {
		return trail.Certain(err, backends.ErrNotHeld, tap.OfKey(r.lock.Key()))
	}
	return nil
}
