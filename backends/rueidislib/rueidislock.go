package rueidislib

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/rueidis/rueidislock"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/backends/redis/tap"
	"github.com/lockstorm/lockstorm/backends/redislibs"
	"github.com/lockstorm/lockstorm/catalog"
)

// rueidisPrefix is what the library's keys of a run begin with.
func rueidisPrefix(run string) string { return strings.TrimSuffix(redis.Keys(run, "")[0], ":") }

var rueidisParams = []catalog.Param{
	{Name: "majority", Default: "2", Doc: "KeyMajority n: each lock has 2n-1 keys in Redis, and a client must get n of them"},
	{Name: "try-next-after", Default: "20ms", Doc: "TryNextAfter: time limit for acquiring one of the lock's keys"},
	{Name: "extend-interval", Default: "0.5ttl", Doc: "ExtendInterval: how often the library extends the lock"},
	{Name: "no-loop-tracking", Default: "no", Doc: "NoLoopTracking: the server does not notify a client of that client's own changes"},
	{Name: "disable-cache", Default: "no", Doc: "DisableCache: no client-side caching; a waiting client asks again every TryNextAfter"},
	{Name: "setpx", Default: "no", Doc: "FallbackSETPX: the library sends SET PX (the time to live) instead of SET PXAT (the time at which the key expires)"},
	{Name: "retry", Default: "yes", Doc: "no: the library's Redis client never resends a command (option DisableRetry)"},
}

func withRueidis(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	o, err := rueidisOptions(v, time.Second)
	s.Keys = func(run, lock string) (keys []string) {
		for i := range 2*o.KeyMajority - 1 { // prefix:0:name and so on
			keys = append(keys, fmt.Sprintf("%s:%d:%s", rueidisPrefix(run), i, lock))
		}
		return keys
	}
	return s, err
}

// rueidisOptions are the options of the locker; what has the library's default is left to it.
func rueidisOptions(v catalog.Values, ttl time.Duration) (o rueidislock.LockerOption, err error) {
	majority, err := v.Count("majority", 0)
	if err != nil {
		return o, err
	}
	if majority > maxMajority {
		return o, fmt.Errorf("majority=%d: choose at most %d", majority, maxMajority)
	}
	o.KeyMajority = int32(majority)
	if o.TryNextAfter, err = v.Length("try-next-after", ttl); err != nil {
		return o, err
	}
	if o.ExtendInterval, err = v.Length("extend-interval", ttl); err != nil {
		return o, err
	}
	if o.NoLoopTracking, err = v.Bool("no-loop-tracking"); err != nil {
		return o, err
	}
	if o.FallbackSETPX, err = v.Bool("setpx"); err != nil {
		return o, err
	}
	if o.ClientOption.DisableCache, err = v.Bool("disable-cache"); err != nil {
		return o, err
	}
	retry, err := v.Bool("retry")
	o.ClientOption.DisableRetry = !retry
	return o, err
}

const maxMajority = 50

// openRueidis opens rueidislock on the first node. The client is made on first use: the
// library connects at once, and a server that is down is no reason to give up.
func openRueidis(_ context.Context, env backends.Env) (backends.Locker, error) {
	if len(env.Nodes) == 0 {
		return nil, redislibs.ErrNoServer
	}
	o, err := rueidisOptions(env.Values, env.TTL)
	if err != nil {
		return nil, err
	}
	t := tap.New(env.Now)
	return &rueidisLock{env: env, tap: t, spy: newSpy(env, t, int(o.KeyMajority)), options: o}, nil
}

type rueidisLock struct {
	env     backends.Env
	tap     *tap.Tap
	spy     *spy
	options rueidislock.LockerOption
	locker  rueidislock.Locker
}

// connect makes the library's locker, with our dialler and our spy.
func (r *rueidisLock) connect() error {
	if r.locker != nil {
		return nil
	}
	node := r.env.Nodes[0].Name
	o := r.options
	o.KeyPrefix, o.KeyValidity, o.ClientBuilder = rueidisPrefix(r.env.Run), r.env.TTL, r.spy.build
	o.ClientOption.InitAddress = []string{node}
	dial := redis.Dialer(r.env, node, r.tap)
	if sentinels := redis.Sentinels(r.env); len(sentinels) > 0 {
		o.ClientOption.InitAddress, o.ClientOption.Sentinel.MasterSet = sentinels, redis.MasterName
		dial = redis.AnyDialer(r.env, r.tap)
	}
	o.ClientOption.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		if d.Timeout > 0 { // that for Sentinels has none
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d.Timeout)
			defer cancel()
		}
		return dial(ctx, "", addr)
	}
	locker, err := rueidislock.NewLocker(o)
	if err != nil {
		// Nothing but the greeting can have been sent.
		return fmt.Errorf("cannot connect to %s: %w: %w", node, backends.ErrNotSent, err)
	}
	r.locker = locker
	return nil
}

// Acquire waits as the library does: until a key is said to have changed.
func (r *rueidisLock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return r.lock(ctx, req, rueidislock.Locker.WithContext)
}

// TryAcquire does not wait.
func (r *rueidisLock) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return r.lock(context.WithoutCancel(ctx), req, rueidislock.Locker.TryWithContext)
}

// rueidisCall is one of the library's ways to take a lock.
type rueidisCall func(l rueidislock.Locker, ctx context.Context, name string) (context.Context, context.CancelFunc, error)

func (r *rueidisLock) lock(ctx context.Context, req backends.Request, take rueidisCall) (backends.Lease, error) {
	if err := r.connect(); err != nil {
		return nil, err
	}
	r.spy.begin(req)
	waiting, granted := redislibs.UntilGranted(ctx)
	held, cancel, err := take(r.locker, waiting, req.Lock)
	granted()
	a := r.spy.latest()
	switch {
	case err != nil && a.maySucceed():
		return nil, fmt.Errorf("unknown outcome: the client may have got a majority of the lock's keys: %v", err) //nolint:errorlint // hidden on purpose
	case err != nil && !a.refused(): // a majority of the keys is certainly not ours
		return nil, fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", backends.ErrBusy, err)
	}
	sent, kept := a.grant()
	if !kept {
		cancel() // waits until the library has done with it
		return nil, errors.New("the library gave up the lock before the acquire call returned")
	}
	l := &rueidisLease{attempt: a, cancel: cancel, lost: make(chan struct{})}
	l.info = backends.Info{
		Owner: req.Owner, Lease: req.LeaseName(), Sent: sent, TTL: r.env.TTL, Deadline: sent + r.env.TTL.Nanoseconds(),
	}
	go l.watch(held)
	return l, nil
}

// Close closes the connections.
func (r *rueidisLock) Close() error {
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

// Info is what was granted.
func (l *rueidisLease) Info() backends.Info { return l.info }

// watch tells of the loss that the library's context tells.
func (l *rueidisLease) watch(held context.Context) {
	defer close(l.lost)
	<-held.Done()
	if !l.attempt.givenBack() {
		l.attempt.req.Hooks.Lost(l.info.Lease, "the library cancelled the context of the lock, which means that the lock is lost")
	}
}

// Release has the library delete its keys, and says what the server answered.
func (l *rueidisLease) Release(context.Context) error {
	l.attempt.stop()
	l.attempt.giveBack()
	l.cancel() // returns when every key was asked for
	<-l.lost
	return l.attempt.outcome()
}
