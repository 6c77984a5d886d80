package redislibs

import (
	"context"
	"errors"

	"github.com/bsm/redislock"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redis"
)

// openRedislock opens bsm/redislock on the first node.
func openRedislock(_ context.Context, env backends.Env) (backends.Locker, error) {
	cs, err := clients(env, 1)
	if err != nil {
		return nil, err
	}
	locker := redislock.New(cs[0])
	try := func(ctx context.Context, req backends.Request) (backends.Lease, error) {
		sent := env.Now()
		l, err := locker.Obtain(ctx, redis.Keys(env.Run, req.Lock)[0], req.TTL, &redislock.Options{Token: req.Owner})
		switch {
		case errors.Is(err, redislock.ErrNotObtained):
			return nil, backends.ErrBusy
		case err != nil:
			return nil, redis.Classify(err)
		}
		info := backends.Info{Owner: l.Token(), Lease: l.Token(), Sent: sent, TTL: req.TTL, Deadline: sent + req.TTL.Nanoseconds()}
		return &lease{info: info, release: func(ctx context.Context) error {
			err := l.Release(ctx)
			if errors.Is(err, redislock.ErrLockNotHeld) {
				return backends.ErrNotHeld
			}
			return redis.Classify(err)
		}}, nil
	}
	return &polled{env: env, try: try, close: cs[0].Close}, nil
}
