// Package redis lets you test locks on Redis (add [Part] to a catalogue): a ladder from the broken to the best that one server
// can do. They share one client and differ in how they take, keep and release the key. The client retries as users' clients do; a
// tap on its connections tells which of its errors and refusals are certain.
package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/internal/tap"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// manyConns keeps the pool's circuit breaker from closing: after PoolSize failed dials
// in a row it would answer from memory and look again only once a second.
const manyConns = 1 << 12

// Dialer returns a function that connects to a node, through a tap if t is not nil.
func Dialer(env backends.Env, node string, t *tap.Tap) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := env.Dial(ctx, node)
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot connect to %s: %w: %w", node, backends.ErrNotSent, err)
		case t == nil:
			return conn, nil
		}
		return t.Conn(conn, node), nil
	}
}

// options are those of a client of our own locks: time-outs that fit the lease, and no retries but
// those that connect adds.
func options(env backends.Env, node string, timeout time.Duration, t *tap.Tap) *goredis.Options {
	logging.Disable()
	return &goredis.Options{
		Addr:                     node,
		Dialer:                   Dialer(env, node, t),
		Protocol:                 2,
		MaxRetries:               -1,
		DialerRetries:            1,
		DialTimeout:              timeout,
		ReadTimeout:              timeout,
		WriteTimeout:             timeout,
		ContextTimeoutEnabled:    true,
		PoolSize:                 manyConns,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// connect is a client of the master that Sentinel names, where there are Sentinels, else
// of the first node. It sends again what was not answered, up to retries times.
func connect(env backends.Env, retries int, t *tap.Tap) *goredis.Client {
	o := options(env, env.Nodes[0].Name, env.Timeout, t)
	o.MaxRetries = retries
	if retries == 0 {
		o.MaxRetries = -1 // go-redis takes a 0 for its default
	}
	if len(Sentinels(env)) > 0 {
		return connectSentinel(env, o, t)
	}
	return goredis.NewClient(o)
}

// classify keeps the definite errors apart from those after which nothing is known.
func classify(err error) error {
	switch {
	case err == nil || errors.Is(err, backends.ErrNotSent):
		return err
	case errors.Is(err, goredis.ErrPoolTimeout) || errors.Is(err, goredis.ErrClosed) || refusedByServer(err):
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	default:
		return err
	}
}

func refusedByServer(err error) bool {
	var reply goredis.Error
	return errors.As(err, &reply) && tap.NotDone(reply.Error())
}

// lock is the part that all Redis locks share: one client, one key per lock.
type lock struct {
	env    backends.Env
	client *goredis.Client
	tap    *tap.Tap
	take   taker
}

// taker is how a lock is taken: the one function that differs.
type taker func(context.Context, *lock, backends.Request) (backends.Lease, error)

// opener makes the Open of a Spec. The client connects on first use: a server that is
// down now is no reason to give up.
func opener(take taker) func(context.Context, backends.Env) (backends.Locker, error) {
	return func(_ context.Context, env backends.Env) (backends.Locker, error) {
		if len(env.Nodes) == 0 {
			return nil, errNoServer
		}
		retries, err := env.Values.Whole(paramRetries, maxRetries)
		if err != nil {
			return nil, err
		}
		t := tap.New(env.Now)
		return &lock{env: env, client: connect(env, retries, t), tap: t, take: take}, nil
	}
}

const (
	paramRetries = "retries"
	maxRetries   = 10
)

// retriesParam is what all locks on one server have, with the default of go-redis.
var retriesParam = catalog.Param{
	Name: paramRetries, Default: "3",
	Doc: "how often go-redis resends a command that got no answer; 0: never",
}

// waitParam is what all locks that poll have.
var waitParam = catalog.Param{
	Name: backends.ParamWait, Default: "jitter", Choices: []string{"jitter", backends.WaitFixed},
	Doc: "time between two tries (fixed: a fiftieth of the ttl; jitter: at most that, at random)",
}

// checkRetries refuses wrong values before anything is started.
func checkRetries(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	_, err := v.Whole(paramRetries, maxRetries)
	return s, err
}

var errNoServer = errors.New("this lock needs a Redis server: use --topology redis-... (`lockstorm list topologies` shows them)")

// Acquire polls with jitter, as users of these locks do.
func (l *lock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

// TryAcquire makes one try.
func (l *lock) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	lease, err := l.take(ctx, l, req)
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// ask carries out a request that can be told by a word that it carries, and says what of its
// error is certain: with a client that sends again, a refusal may be of the second time.
func (l *lock) ask(word string, refusal error, do func() error) error {
	trail := l.tap.Follow(word)
	defer trail.End()
	if err := do(); err != nil {
		return trail.Certain(err, refusal, nil)
	}
	return nil
}

// Close closes the client's connections.
func (l *lock) Close() error {
	if err := l.client.Close(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// key is where a lock lives: below the run's own name, so that a server of another run
// that took a dead server's port cannot be mistaken for it.
func (l *lock) key(name string) string { return lockKey(l.env.Run, name) }

func lockKey(run, name string) string { return run + ":lock:" + name }

// Keys returns the keys of a lock, for faults of the store.
func Keys(run, name string) []string { return []string{lockKey(run, name)} }

// counterKey is where the fencing tokens of a lock are counted.
func (l *lock) counterKey(name string) string { return l.key(name) + ":token" }

// lease is a held key.
type lease struct {
	l       *lock
	req     backends.Request
	info    backends.Info
	release func(ctx context.Context, l *lease) error
}

// Info is what was granted.
func (l *lease) Info() backends.Info { return l.info }

// Release gives the key back in the way of its lock.
func (l *lease) Release(ctx context.Context) error { return l.release(ctx, l) }

// leased describes a grant whose key expires; without a ttl it has no lease.
func leased(req backends.Request, sent int64, ttl time.Duration) backends.Info {
	info := backends.Info{Owner: req.Owner, Sent: sent}
	if ttl > 0 {
		info.Lease, info.TTL, info.Deadline = req.LeaseName(), ttl, sent+ttl.Nanoseconds()
	}
	return info
}
