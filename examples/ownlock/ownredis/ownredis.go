// Package ownredis judges a lock on Redis of your own: the adapter for a lock whose servers lockstorm
// starts and hurts itself. Put your library in the place of the two commands; [Spec] and what it opens are
// all that lockstorm asks for.
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
	"github.com/lockstorm/lockstorm/history"
)

// Names of the locks, for --backend and suites.
const (
	Name = "my-redis-lock"
	Bug  = "my-redis-lock-del"
)

// ours deletes the key if it is still its owner's.
var ours = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

// anybodys deletes the key, whose ever it is: the bug.
var anybodys = redis.NewScript(`return redis.call('DEL', KEYS[1])`)

// Catalogue is what lockstorm has for files and for Redis, its servers among it, and the two locks. (package stores has
// everything that lockstorm can run.)
func Catalogue() *harness.Catalogue {
	cat := harness.New(file.Part(), stock.Part())
	cat.Backends.Add(Spec(Name, "SET NX PX; the release deletes the key only if the key belongs to the client", ours), Spec(Bug, "SET NX PX; the release deletes the key of any client (a planted bug)", anybodys))
	return cat
}

// Spec is a lock for the catalogue. Its servers are those of a topology that lockstorm has.
func Spec(name, doc string, release *redis.Script) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc, Topologies: []string{"redis-single"}, Ends: history.EndsLease,
		Keys: func(run, lock string) []string { return []string{key(run, lock)} }, // for faults that delete it
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
			node := env.Nodes[0].Name
			client := redis.NewClient(&redis.Options{
				Addr:   node, // a name: only env.Dial knows the way, and the faults are on it
				Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) { return env.Dial(ctx, addr) },
				// A SET that is sent again finds its own key and says that somebody else has the lock, a release that
				// it was never held. This lock sends nothing again; the judge is told that nobody knows.
				MaxRetries: -1, ContextTimeoutEnabled: true,
			})
			return &locker{env: env, client: client, release: release}, nil
		},
	}
}

func key(run, lock string) string { return run + ":" + lock }

// locker is one client's access to the locks.
type locker struct {
	env     backends.Env
	client  *redis.Client
	release *redis.Script
}

// Acquire tries again and again, as this lock's users do.
func (l *locker) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

// TryAcquire makes one try. The owner is another one each time, and is the value of the key.
func (l *locker) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	sent := l.env.Now() // before the request leaves: from here the lease counts
	taken, err := l.client.SetNX(ctx, key(l.env.Run, req.Lock), req.Owner, req.TTL).Result()
	switch {
	case err != nil:
		return nil, err // unknown: it may have been taken
	case !taken:
		return nil, backends.ErrBusy
	}
	return &lease{l: l, key: key(l.env.Run, req.Lock), info: backends.Info{
		Owner: req.Owner, Lease: req.Owner, Sent: sent, TTL: req.TTL, Deadline: sent + req.TTL.Nanoseconds(),
	}}, nil
}

// Close ends the connections.
func (l *locker) Close() error { return l.client.Close() }

type lease struct {
	l    *locker
	key  string
	info backends.Info
}

// Info is what was granted.
func (l *lease) Info() backends.Info { return l.info }

// Release gives the lock back.
func (l *lease) Release(ctx context.Context) error {
	n, err := l.l.release.Run(ctx, l.l.client, []string{l.key}, l.info.Owner).Int()
	switch {
	case errors.Is(err, redis.ErrClosed):
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	case err != nil:
		return err // unknown
	case n == 0:
		return backends.ErrNotHeld
	}
	return nil
}
