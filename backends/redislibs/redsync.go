package redislibs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	redigolib "github.com/gomodule/redigo/redis"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/internal/tap"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// redsyncLock is go-redsync on every node.
type redsyncLock struct {
	env     backends.Env
	tap     *tap.Tap
	sync    *redsync.Redsync
	nodes   int
	options []redsync.Option
	mutexes map[string]*redsync.Mutex // the last one of each lock, for those who use it again
	closers []func() error
}

func openRedsync(_ context.Context, env backends.Env) (backends.Locker, error) {
	if len(env.Nodes) == 0 {
		return nil, ErrNoServer
	}
	options, err := redsyncOptions(env.Values)
	if err != nil {
		return nil, err
	}
	l := &redsyncLock{env: env, tap: tap.New(env.Now), nodes: len(env.Nodes), options: options, mutexes: map[string]*redsync.Mutex{}}
	var pools []redsyncredis.Pool
	for _, n := range env.Nodes {
		pools = append(pools, l.pool(n.Name))
	}
	l.sync = redsync.New(pools...)
	return l, nil
}

// pool is one node by the client that was chosen, with that client's defaults: redigo's README
// makes a pool of three idle connections, and its connections have no time-out.
func (l *redsyncLock) pool(node string) redsyncredis.Pool {
	if l.env.Values[paramClient] != clientRedigo {
		c := client(l.env, node, l.tap)
		l.closers = append(l.closers, c.Close)
		return goredis.NewPool(c)
	}
	dial := redis.Dialer(l.env, node, l.tap)
	p := &redigolib.Pool{MaxIdle: 3, IdleTimeout: 240 * time.Second, DialContext: func(ctx context.Context) (redigolib.Conn, error) {
		return redigolib.DialContext(ctx, "tcp", node, redigolib.DialContextFunc(dial))
	}}
	l.closers = append(l.closers, p.Close)
	return redigo.NewPool(p)
}

func (l *redsyncLock) quorum() int { return l.nodes/2 + 1 }

// mutex is a lock object for a request.
func (l *redsyncLock) mutex(ctx context.Context, req backends.Request) *redsync.Mutex {
	if m := l.mutexes[req.Lock]; m != nil && req.Reuse {
		return m
	}
	waits := req.Waiting(ctx)
	options := append([]redsync.Option{redsync.WithExpiry(req.TTL)}, l.options...)
	if req.Reuse { // one object has one generator of values: the library's own
		m := l.sync.NewMutex(redis.Keys(l.env.Run, req.Lock)[0], options...)
		l.mutexes[req.Lock] = m
		return m
	}
	options = append(options,
		redsync.WithGenValueFunc(func() (string, error) { return req.Owner, nil }),
		redsync.WithRetryDelayFunc(func(int) time.Duration { // as the library does by default, and tells
			waits()
			return redsyncLeast + time.Duration(l.env.Rand.Int64N(int64(redsyncMost-redsyncLeast)))
		}))
	return l.sync.NewMutex(redis.Keys(l.env.Run, req.Lock)[0], options...)
}

// The pauses between two tries: the library's defaults.
const (
	redsyncLeast = 50 * time.Millisecond
	redsyncMost  = 250 * time.Millisecond
)

// Acquire waits as the library does: its own number of tries, with its own pauses.
func (l *redsyncLock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return l.lock(ctx, req, (*redsync.Mutex).LockContext)
}

// TryAcquire makes one attempt.
func (l *redsyncLock) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return l.lock(context.WithoutCancel(ctx), req, (*redsync.Mutex).TryLockContext)
}

func (l *redsyncLock) lock(ctx context.Context, req backends.Request,
	lock func(*redsync.Mutex, context.Context) error,
) (backends.Lease, error) {
	m := l.mutex(ctx, req)
	word := req.Owner
	if req.Reuse { // its value is not known before
		word = m.Name()
	}
	trail := l.tap.Follow(word)
	defer trail.End()
	if err := lock(m, ctx); err != nil {
		return nil, l.refused(trail, err)
	}
	lease := &redsyncLease{l: l, m: m, ttl: req.TTL}
	lease.info = backends.Info{Owner: m.Value(), Lease: req.LeaseName(), TTL: req.TTL, Deadline: lease.until()}
	lease.info.Sent, lease.info.Nodes = grantedBy(trail.Sends(), lease.info.Deadline-req.TTL.Nanoseconds())
	return lease, nil
}

// grantedBy is which nodes have granted by the last try, and when the first of the requests left
// by which they did. A try that fails deletes at every node what it may have set; what left
// before the validity can have begun is of an earlier one.
func grantedBy(sends []tap.Send, since int64) (sent int64, nodes []string) {
	when := map[string]int64{}
	for _, s := range sends {
		switch {
		case !isSet(s):
			delete(when, s.Node)
		case s.Fate() == tap.Done && s.Left >= since:
			when[s.Node] = s.Left
		}
	}
	for n, at := range when {
		nodes = append(nodes, n)
		if sent == 0 || at < sent {
			sent = at
		}
	}
	slices.Sort(nodes)
	return sent, nodes
}

func isSet(s tap.Send) bool {
	return strings.EqualFold(s.Verb, "SET") || strings.EqualFold(s.Verb, "SETNX")
}

// refused is what a failed attempt amounts to: it certainly failed where no majority can hold
// the key. The library has tried to delete it everywhere.
func (l *redsyncLock) refused(trail *tap.Trail, err error) error {
	sends := trail.Sends()
	left := 0
	for _, n := range l.env.Nodes {
		if mayHold(sends, n.Name) {
			left++
		}
	}
	switch {
	case trail.Blind() || left >= l.quorum():
		return unknown(err)
	case !slices.ContainsFunc(sends, askedFor): // what it deletes afterwards asks for nothing
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	return fmt.Errorf("%w: %w", backends.ErrBusy, err)
}

// askedFor is a SET that a server may have carried out, or refused because of another client's key.
func askedFor(s tap.Send) bool { return isSet(s) && s.Fate() != tap.Unsent }

// mayHold follows the key at one node: a SET whose answer was lost may be carried out at any
// time, also after it was deleted.
func mayHold(sends []tap.Send, node string) bool {
	held, maybe := false, false
	for _, s := range sends {
		if s.Node != node {
			continue
		}
		switch fate := s.Fate(); {
		case !isSet(s):
			held = held && fate != tap.Done && fate != tap.Refused // deleted, or said to be gone
		case fate == tap.Done:
			held = true
		case fate == tap.Lost:
			maybe = true
		}
	}
	return held || maybe
}

// unknown hides the definite errors of single nodes: together they say nothing.
func unknown(err error) error {
	return fmt.Errorf("unknown outcome: the request neither succeeded on a majority of the nodes nor failed on a majority: %v", err) //nolint:errorlint // hidden on purpose
}

// Close closes the connections.
func (l *redsyncLock) Close() error {
	return errors.Join(lists.Map(l.closers, func(c func() error) error { return c() })...)
}

type redsyncLease struct {
	l    *redsyncLock
	m    *redsync.Mutex
	ttl  time.Duration
	info backends.Info
}

var (
	_ backends.Extender = (*redsyncLease)(nil)
	_ backends.Asker    = (*redsyncLease)(nil)
)

// until is the end of the validity that redsync states, on the run's clock.
func (r *redsyncLease) until() int64 {
	return r.l.env.Now() + time.Until(r.m.Until()).Nanoseconds()
}

// Info is what was granted.
func (r *redsyncLease) Info() backends.Info { return r.info }

// Release deletes the key at every node.
func (r *redsyncLease) Release(ctx context.Context) error {
	trail := r.l.tap.Follow(r.info.Owner)
	defer trail.End()
	ok, err := r.m.UnlockContext(ctx)
	switch {
	case ok:
		return nil
	case r.l.notHeld(trail):
		return backends.ErrNotHeld
	default:
		return unknown(err)
	}
}

// notHeld reports whether a majority said, each at the first time of asking, that the lock is
// not the caller's. A node that was not asked said nothing.
func (l *redsyncLock) notHeld(trail *tap.Trail) bool {
	no := 0
	for _, n := range l.env.Nodes {
		if trail.Fate(func(s tap.Send) bool { return s.Node == n.Name }) == tap.Refused {
			no++
		}
	}
	return no >= l.quorum()
}

// Extend prolongs the key at every node, or sets it anew.
func (r *redsyncLease) Extend(ctx context.Context) (backends.Renewal, error) {
	trail := r.l.tap.Follow(r.info.Owner)
	defer trail.End()
	re := backends.Renewal{Sent: r.l.env.Now(), TTL: r.ttl}
	ok, err := r.m.ExtendContext(ctx)
	switch {
	case ok:
		re.Deadline = min(r.until(), re.Sent+r.ttl.Nanoseconds())
		return re, nil
	case r.l.notHeld(trail):
		return re, backends.ErrNotHeld
	default:
		return re, unknown(err)
	}
}

// Held asks every node, by the library's ValidContext.
func (r *redsyncLease) Held(ctx context.Context) (bool, error) {
	held, err := r.m.ValidContext(ctx) //nolint:staticcheck // it is what users call still
	if held {                          // by a majority: the error is of the others
		return true, nil
	}
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) { // by a majority that answered: an error is how it says no
		return false, nil
	}
	return held, err
}
