// Package ownredis shows how to test your own lock on Redis. lockstorm starts the Redis server, and injects faults
// into it. Copy this package, and replace the two commands SET and DEL by the calls of your library. You must write
// only [Spec] and the types that it opens.
package ownredis

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/file"
	stock "github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/harness"
)

// Names of the locks, for --backend and suites.
const (
	Name = "my-redis-lock"
	Bug  = "my-redis-lock-del"
)

// ours deletes the key only if the key still belongs to this owner.
var ours = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

// anybodys deletes the key even if it belongs to another client: the planted bug.
var anybodys = redis.NewScript(`return redis.call('DEL', KEYS[1])`)

// Catalogue contains lockstorm's parts for files and for Redis (with its servers), and the two locks of this package. (To use all
// stores of lockstorm, see package backends/stores.)
func Catalogue() *harness.Catalogue {
	cat := harness.New(file.Part(), stock.Part())
	cat.Backends.Add(Spec(Name, "acquire by SET NX PX; the release deletes the key only if the key belongs to the releasing client",
		ours), Spec(Bug, "acquire by SET NX PX; the release deletes the key even if the key belongs to another client (a planted bug)",
		anybodys))
	return cat
}

// Spec describes a lock for the catalogue. The lock runs on a topology (a set of servers) of lockstorm.
func Spec(name, doc string, release *redis.Script) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc, Topologies: []string{"redis-single"}, Ends: backends.EndsLease,
		Keys: func(run, lock string) []string { return []string{key(run, lock)} }, // for faults that delete the key
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
			node := env.Nodes[0].Name
			client := redis.NewClient(&redis.Options{
				Addr:   node, // the name of the server: env.Dial connects to it through a proxy, in which faults act
				Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) { return env.Dial(ctx, addr) },
				// Without retries. If a SET were sent again, it would find its own key, and report that another client has the
				// lock. A repeated release would report that the lock was not held. Instead, report such outcomes as unknown.
				MaxRetries: -1, ContextTimeoutEnabled: true,
			})
			return &locker{env: env, client: client, release: release}, nil
		},
	}
}

func key(run, lock string) string { return run + ":" + lock }

// locker gives one client access to the locks.
type locker struct {
	env     backends.Env
	client  *redis.Client
	release *redis.Script
}

// Acquire repeats TryAcquire, as the users of this lock do.
func (l *locker) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

// TryAcquire tries once to acquire the lock. The value of the key is the owner, which is different for each try.
func (l *locker) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	sent := l.env.Now() // just before the request is sent: the lease starts at this time
	taken, err := l.client.SetNX(ctx, key(l.env.Run, req.Lock), req.Owner, req.TTL).Result()
	switch {
	case err != nil:
		return nil, err // unknown: Redis may have set the key
	case !taken:
		return nil, backends.ErrBusy
	}
	info := backends.Info{Owner: req.Owner, Lease: req.Owner, Sent: sent, TTL: req.TTL, Deadline: sent + req.TTL.Nanoseconds()}
	return &backends.Granted{Of: info, Give: func(ctx context.Context) error { return l.giveBack(ctx, req) }}, nil
}

// Close closes the connections.
func (l *locker) Close() error { return l.client.Close() }

// giveBack releases the lock.
func (l *locker) giveBack(ctx context.Context, req backends.Request) error {
	n, err := l.release.Run(ctx, l.client, []string{key(l.env.Run, req.Lock)}, req.Owner).Int()
	switch {
	case errors.Is(err, redis.ErrClosed):
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	case err != nil:
		return err // unknown: Redis may have deleted the key
	case n == 0:
		return backends.ErrNotHeld
	}
	return nil
}
