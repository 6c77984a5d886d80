package redislibs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redis"
)

// rueidisMajority of 2*rueidisMajority-1 keys must be had: the library's default.
const rueidisMajority = 2

// rueidisPrefix is what the library's keys of a run begin with.
func rueidisPrefix(run string) string { return strings.TrimSuffix(redis.Keys(run, "")[0], ":") }

// rueidisKeys are the keys of a lock: prefix:0:name and so on.
func rueidisKeys(run, lock string) []string {
	var keys []string
	for i := range 2*rueidisMajority - 1 {
		keys = append(keys, fmt.Sprintf("%s:%d:%s", rueidisPrefix(run), i, lock))
	}
	return keys
}

// openRueidis opens rueidislock on the first node. The client is made on first use: the
// library connects at once, and a server that is down is no reason to give up.
func openRueidis(_ context.Context, env backends.Env) (backends.Locker, error) {
	if len(env.Nodes) == 0 {
		return nil, errors.New("rueidislock needs a Redis server: choose a redis-... topology")
	}
	r := &rueidisLock{env: env, spy: newSpy(env)}
	return &polled{env: env, try: r.try, close: r.close}, nil
}

type rueidisLock struct {
	env    backends.Env
	spy    *spy
	locker rueidislock.Locker
}

// connect makes the library's locker, with our dialler and our spy.
func (r *rueidisLock) connect() error {
	if r.locker != nil {
		return nil
	}
	node := r.env.Nodes[0].Name
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		KeyPrefix: rueidisPrefix(r.env.Run), KeyValidity: r.env.TTL, TryNextAfter: r.env.Timeout, KeyMajority: rueidisMajority,
		ClientOption: rueidis.ClientOption{
			InitAddress: []string{node}, ForceSingleClient: true, DisableRetry: true, ConnWriteTimeout: r.env.Timeout,
			DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				ctx, cancel := context.WithTimeout(ctx, r.env.Timeout)
				defer cancel()
				conn, err := r.env.Dial(ctx, node)
				if err != nil {
					return nil, fmt.Errorf("dial %s: %w: %w", node, backends.ErrNotSent, err)
				}
				return conn, nil
			},
		},
		ClientBuilder: r.spy.build,
	})
	if err != nil {
		// Nothing but the greeting can have been sent.
		return fmt.Errorf("connect to %s: %w: %w", node, backends.ErrNotSent, err)
	}
	r.locker = locker
	return nil
}

func (r *rueidisLock) try(ctx context.Context, req backends.Request) (backends.Lease, error) {
	if err := r.connect(); err != nil {
		return nil, err
	}
	a := r.spy.begin(req)
	held, cancel, err := r.locker.TryWithContext(ctx, req.Lock)
	switch {
	case err != nil && a.mayHold() >= rueidisMajority:
		return nil, unknown(err)
	case err != nil && !a.refused(): // a majority of the keys is certainly not ours
		return nil, fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", backends.ErrBusy, err)
	}
	if !a.grant() {
		cancel() // waits until the library has done with it
		return nil, errors.New("the library gave the lock up before it had handed it over")
	}
	l := &rueidisLease{attempt: a, cancel: cancel, lost: make(chan struct{})}
	l.info = backends.Info{
		Owner: req.Owner, Lease: req.Owner, Sent: a.sent, TTL: r.env.TTL, Deadline: a.sent + r.env.TTL.Nanoseconds(),
	}
	go l.watch(held)
	return l, nil
}

func (r *rueidisLock) close() error {
	if r.locker != nil {
		r.locker.Close()
	}
	return nil
}

// rueidisLease is a lock that the library extends until it is given back.
type rueidisLease struct {
	info    backends.Info
	attempt *attempt
	cancel  context.CancelFunc
	lost    chan struct{} // closed when the library's context has ended
}

var _ backends.Renewer = (*rueidisLease)(nil)

// Info is what was granted.
func (l *rueidisLease) Info() backends.Info { return l.info }

// watch tells of the loss that the library's context tells.
func (l *rueidisLease) watch(held context.Context) {
	defer close(l.lost)
	<-held.Done()
	if !l.attempt.givenBack() {
		l.attempt.req.Hooks.Lost(l.info.Lease, "the library ended the lock's context")
	}
}

// StopRenewing keeps further extensions from being sent: the library itself stops only
// with the release.
func (l *rueidisLease) StopRenewing() { l.attempt.stop() }

// Release has the library delete its keys, and says what the server answered.
func (l *rueidisLease) Release(context.Context) error {
	l.attempt.giveBack()
	l.cancel() // returns when every key was asked for
	<-l.lost
	return l.attempt.outcome()
}
