// Package redislibs holds published Redis lock libraries as their users have them, made
// into backends: redsync, redislock (bsm) and rueidislock. Each adapter records what its
// library tells and nothing more; where a library hides when a request left or whether a
// renewal came through, a hook of its Redis client tells.
//
// The silent retries of their Redis clients are off, as for our own locks: with them a SET NX
// whose reply was lost is told as "held by somebody else". Their wait loops are replaced by
// one try a call.
package redislibs

import (
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/history"
)

// Specs are the libraries for the catalogue.
func Specs() []backends.Spec {
	single := []string{redis.Single, redis.Single + redis.AOF, redis.Replica, redis.Replica + redis.AOF}
	five := []string{redis.Five, redis.Five + redis.AOF}
	return []backends.Spec{
		{
			Name: "redsync", Doc: "go-redsync/redsync v4.18.1: Redlock; its Until is obeyed",
			Notes: "Its Until is the deadline. It does not tell which nodes granted.", Topologies: five,
			Ends: history.EndsLease, Keys: redis.Keys, Open: openRedsync(false),
		},
		{
			Name: "redsync-setnx-extend", Doc: "redsync, extended every third of its time to live, WithSetNXOnExtend: an extension sets keys that are gone anew",
			Notes:      "After a pause that its lease did not survive, an extension may take a lock that is free again: the holder goes on as if nothing had happened, although others may have held it in between.",
			Topologies: five, Ends: history.EndsLease, Renews: true, Keys: redis.Keys, Open: openRedsync(true),
		},
		{
			Name: "redislock", Doc: "bsm/redislock v0.9.4: SET NX PX in a script, released by compare-and-delete",
			Notes: "Its lease is measured by us, from before the call.", Topologies: single,
			Ends: history.EndsLease, Keys: redis.Keys, Open: openRedislock,
		},
		{
			Name: "rueidislock", Doc: "redis/rueidis/rueidislock v1.0.79: two of three keys on one server, extended in the background, a context that ends with the loss",
			Notes:      "Two of three keys on one server. What it extends and deletes is read from its Redis commands by a hook of its client. The extension ends, and its context with it, when two keys are lost.",
			Topologies: single, Ends: history.EndsLease, Renews: true, Keys: rueidisKeys, Open: openRueidis,
			RealServer: "the embedded server knows no CLIENT TRACKING, by which this library waits",
		},
	}
}

// clients are go-redis clients of every node, or of the first.
func clients(env backends.Env, n int) ([]*goredis.Client, error) {
	if len(env.Nodes) < n {
		return nil, errors.New("this lock needs Redis servers: choose a redis-... topology")
	}
	var out []*goredis.Client
	for i := range n {
		out = append(out, goredis.NewClient(redis.Options(env, env.Nodes[i].Name, env.Timeout)))
	}
	return out, nil
}

// polled is a Locker whose waiting is ours: the library makes one try a call.
type polled struct {
	env   backends.Env
	try   func(ctx context.Context, req backends.Request) (backends.Lease, error)
	close func() error
}

var _ backends.Locker = (*polled)(nil)

// Acquire polls with jitter.
func (p *polled) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, p.env, req, p.TryAcquire)
}

// TryAcquire makes one try.
func (p *polled) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return p.try(context.WithoutCancel(ctx), req) // some keep the context for as long as the lock
}

// Close closes the connections.
func (p *polled) Close() error { return p.close() }

// lease is a grant of a library.
type lease struct {
	info    backends.Info
	release func(ctx context.Context) error
}

// Info is what was granted.
func (l *lease) Info() backends.Info { return l.info }

// Release gives the lock back.
func (l *lease) Release(ctx context.Context) error { return l.release(ctx) }
