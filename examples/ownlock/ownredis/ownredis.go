// Package ownredis shows how to test your own lock on Redis: copy it, and put your library's calls in place of SET and DEL.
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

// ours deletes the key only if it still belongs to this owner.
var ours = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

// anybodys deletes another client's key, too: the planted bug.
var anybodys = redis.NewScript(`return redis.call('DEL', KEYS[1])`)

// Catalogue has lockstorm's parts for files and Redis, and the two locks of this package.
func Catalogue() *harness.Catalogue {
	cat := harness.New(file.Part(), stock.Part())
	cat.Backends.Add(Spec(Name, "SET NX PX; release by compare-and-delete", ours),
		Spec(Bug, "SET NX PX; release by DEL: a planted bug", anybodys))
	return cat
}

// Spec describes a lock to the catalogue.
func Spec(name, doc string, release *redis.Script) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc, Topologies: []string{"redis-single"}, Ends: backends.EndsLease,
		Keys: func(run, lock string) []string { return []string{key(run, lock)} }, // for faults that delete the key
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
			node := env.Nodes[0].Name
			client := redis.NewClient(&redis.Options{
				Addr:   node, // a name, for env.Dial: faults act in its proxy
				Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) { return env.Dial(ctx, addr) },
				// Without retries: a SET that is sent again finds its own key, and looks refused.
				MaxRetries: -1, ContextTimeoutEnabled: true,
			})
			return &locker{env: env, client: client, release: release}, nil
		},
	}
}

func key(run, lock string) string { return run + ":" + lock }

// locker is one client's access.
type locker struct {
	env     backends.Env
	client  *redis.Client
	release *redis.Script
}

// Acquire repeats TryAcquire, as users do.
func (l *locker) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

// TryAcquire tries once. The key's value is the owner, a new one for each try.
func (l *locker) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	sent := l.env.Now() // just before the request: the lease begins
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
