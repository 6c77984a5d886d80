package redislibs

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/internal/tap"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/history"
)

// mini is a small lock library in the style of the real ones, made right: SET NX PX by a token,
// extensions in the background, a context that ends with the lock, or with its lease where nothing
// was heard. It is the control; each of its bugs is one that a library could have.
type mini struct {
	client *goredis.Client
	bug    string
}

// The bugs.
const (
	ignoresLost = "ignores-lost" // an extension that was refused is taken for one that was granted
	revives     = "revives"      // an extension sets a key that is gone anew
	prefixes    = "prefixes"     // a token that the holder's begins with takes the lock over
	tellsLate   = "tells-late"   // the loss is told two seconds later
	retries     = "retries"      // a SET NX whose answer was lost is sent again in silence
)

var (
	miniExtend = goredis.NewScript(
		`if redis.call("GET",KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE",KEYS[1],ARGV[2]) end return 0`)
	miniRevive = goredis.NewScript(
		`if redis.call("GET",KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE",KEYS[1],ARGV[2]) elseif redis.call("SET",KEYS[1],ARGV[1],"NX","PX",ARGV[2]) then return 1 end return 0`)
	miniRelease = goredis.NewScript(`if redis.call("GET",KEYS[1]) == ARGV[1] then return redis.call("DEL",KEYS[1]) end return 0`)
	miniObtain  = goredis.NewScript(`if redis.call("SET",KEYS[1],ARGV[1],"NX","PX",ARGV[2]) then return 1 end
local held = redis.call("GET",KEYS[1])
if string.sub(held,1,string.len(ARGV[1])) == ARGV[1] then redis.call("SET",KEYS[1],ARGV[1],"PX",ARGV[2]) return 1 end
return 0`)
)

var errMiniTaken = errors.New("mini: taken")

// obtain takes the lock. renewing is asked before each extension and told of its outcome.
func (m *mini) obtain(ctx context.Context, key, token string, ttl time.Duration,
	renewing func() func(error),
) (held context.Context, stop func(), err error) {
	ok := false
	start := time.Now()
	if m.bug == prefixes {
		var n int64
		n, err = miniObtain.Run(ctx, m.client, []string{key}, token, ttl.Milliseconds()).Int64()
		ok = n == 1
	} else {
		ok, err = m.client.SetNX(ctx, key, token, ttl).Result()
	}
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, errMiniTaken
	}
	held, lose := context.WithCancel(context.Background())
	if m.bug == tellsLate {
		now := lose
		lose = func() { time.AfterFunc(2*time.Second, now) }
	}
	working, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.extend(working, key, token, ttl, start.Add(ttl), lose, renewing)
	}()
	return held, func() { end(); <-done }, nil
}

// extend prolongs the lock every third of its time to live, and tells in time where nothing is
// heard: the timer runs beside the request.
func (m *mini) extend(ctx context.Context, key, token string, ttl time.Duration, end time.Time, lose func(),
	renewing func() func(error),
) {
	script := miniExtend
	if m.bug == revives {
		script = miniRevive
	}
	over := time.NewTimer(time.Until(end))
	defer over.Stop()
	if m.bug == ignoresLost || m.bug == revives { // they go by what they are answered alone
		over.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-over.C:
			lose()
			return
		case <-time.After(ttl / 3):
		}
		start, answer := time.Now(), make(chan error, 1)
		done := renewing()
		if done == nil {
			return
		}
		go func() {
			n, err := script.Run(context.WithoutCancel(ctx), m.client, []string{key}, token, ttl.Milliseconds()).Int64()
			if err == nil && n == 0 && m.bug != ignoresLost {
				err = backends.ErrNotHeld
			}
			done(err)
			answer <- err
		}()
		select {
		case <-over.C:
			lose()
			<-answer //nolint:errcheck // it was told already
			return
		case err := <-answer:
			switch {
			case errors.Is(err, backends.ErrNotHeld):
				lose()
				return
			case err == nil && m.bug != ignoresLost && m.bug != revives:
				over.Reset(time.Until(start.Add(ttl)))
			}
		}
	}
}

// Minis are the control and its mutants, in the adapter style of the package.
func Minis() []backends.Spec {
	var out []backends.Spec
	for _, bug := range []string{"", ignoresLost, revives, prefixes, tellsLate, retries} {
		name := "mini"
		if bug != "" {
			name += "-" + bug
		}
		out = append(out, backends.Spec{
			Name: name, Doc: "a library of this test", Library: "mini", Topologies: []string{redis.Single, redis.Single + redis.AOF},
			Ends:   history.EndsLease,
			Renews: true, Keys: redis.Keys, Recovery: goredisRecovery, Calls: []string{backends.CallToken},
			Signals: []backends.Signal{{Kind: backends.SignalContext, Name: "the context of obtain"}},
			Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
				t := tap.New(env.Now)
				o := &goredis.Options{
					Addr: env.Nodes[0].Name, Dialer: redis.Dialer(env, env.Nodes[0].Name, t), MaxRetries: -1,
					ReadTimeout: env.TTL,
				}
				if bug == retries {
					o.MaxRetries = 3
				}
				return &miniLock{env: env, tap: t, lib: &mini{client: goredis.NewClient(o), bug: bug}}, nil
			},
		})
	}
	return out
}

type miniLock struct {
	env backends.Env
	tap *tap.Tap
	lib *mini
}

func (l *miniLock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

func (l *miniLock) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	trail := l.tap.Follow(req.Owner)
	defer trail.End()
	lease := &miniLease{l: l, req: req}
	sent := l.env.Now()
	held, stop, err := l.lib.obtain(ctx, redis.Keys(l.env.Run, req.Lock)[0], req.Owner, req.TTL, lease.renewing)
	if err != nil {
		return nil, trail.Certain(err, backends.ErrBusy, nil)
	}
	lease.stop = stop
	lease.info = backends.Info{
		Owner: req.Owner, Lease: req.LeaseName(), Sent: sent, TTL: req.TTL,
		Deadline: sent + req.TTL.Nanoseconds(),
	}
	context.AfterFunc(held, func() { req.Hooks.Lost(req.LeaseName(), "the library cancelled the context of the lock") })
	return lease, nil
}

func (l *miniLock) Close() error { return l.lib.client.Close() }

type miniLease struct {
	l    *miniLock
	req  backends.Request
	stop func()
	info backends.Info
}

func (m *miniLease) renewing() func(error) {
	done, err := m.req.Hooks.Renewing(m.req.LeaseName())
	if err != nil {
		return nil
	}
	sent := m.l.env.Now()
	return func(err error) {
		done(backends.Renewal{Sent: sent, TTL: m.req.TTL, Deadline: sent + m.req.TTL.Nanoseconds()}, err)
	}
}

func (m *miniLease) Info() backends.Info { return m.info }

func (m *miniLease) Release(ctx context.Context) error {
	m.stop()
	trail := m.l.tap.Follow(m.req.Owner)
	defer trail.End()
	n, err := miniRelease.Run(ctx, m.l.lib.client, []string{redis.Keys(m.l.env.Run, m.req.Lock)[0]}, m.req.Owner).Int64()
	if err == nil && n == 0 {
		err = errors.New("mini: not held")
	}
	if err != nil {
		return trail.Certain(err, backends.ErrNotHeld, nil)
	}
	return nil
}
