package redis

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
)

// Points of the protocols that are not atomic.
const (
	pointSetnxExpire = "between-setnx-and-expire"
	pointGetDel      = "between-get-and-del"
)

// takeSetnx is SETNX without a time to live: whoever dies with it blocks all for ever.
func takeSetnx(ctx context.Context, l *lock, req backends.Request) (backends.Lease, error) {
	info, err := l.setNX(ctx, req, 0)
	return &lease{l: l, req: req, info: info, release: releaseDel}, err
}

// takeSetnxExpire gives the time to live in a second command: whoever dies between the
// two blocks all for ever.
func takeSetnxExpire(ctx context.Context, l *lock, req backends.Request) (backends.Lease, error) {
	info, err := l.setNX(ctx, req, 0)
	if err != nil {
		return nil, err
	}
	req.Reach(ctx, pointSetnxExpire)
	if err := l.client.PExpire(ctx, l.key(req.Lock), req.TTL).Err(); err != nil {
		// The key is ours and may lack its time to live: that is not "not sent".
		return nil, unknown(err)
	}
	// The time to live counts from the EXPIRE, the grant from the SETNX: to count both
	// from the earlier moment makes the client more careful than it need be, never less.
	info = leased(req, info.Sent, req.TTL)
	return &lease{l: l, req: req, info: info, release: releaseDel}, nil
}

// takePX is SET NX PX, atomic; the release differs.
func takePX(release func(context.Context, *lease) error) taker {
	return func(ctx context.Context, l *lock, req backends.Request) (backends.Lease, error) {
		info, err := l.setNX(ctx, req, req.TTL)
		return &lease{l: l, req: req, info: info, release: release}, err
	}
}

// setNX sets the key if it is absent, with a time to live in the same command where
// ttl is not 0.
func (l *lock) setNX(ctx context.Context, req backends.Request, ttl time.Duration) (backends.Info, error) {
	args := goredis.SetArgs{Mode: "NX", TTL: ttl}
	sent := l.env.Now()
	err := l.ask(req.Owner, backends.ErrBusy, func() error { return l.client.SetArgs(ctx, l.key(req.Lock), req.Owner, args).Err() })
	if err != nil {
		return backends.Info{}, err
	}
	return leased(req, sent, ttl), nil
}

// fencedScript takes the key and counts the token in one atomic step.
var fencedScript = goredis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
	return redis.call('INCR', KEYS[2])
end
return 0`)

// takeFenced is SET NX PX with a fencing token from the same server and script.
func takeFenced(ctx context.Context, l *lock, req backends.Request) (backends.Lease, error) {
	sent := l.env.Now()
	token, err := l.eval(ctx, fencedScript, backends.ErrBusy, []string{l.key(req.Lock), l.counterKey(req.Lock)}, req.Owner,
		req.TTL.Milliseconds())
	if err != nil {
		return nil, err
	}
	info := leased(req, sent, req.TTL)
	info.Token, info.HasToken = token, true
	return &lease{l: l, req: req, info: info, release: releaseLua}, nil
}

// eval runs a script of an owner by its hash, and sends its text when the server does not know
// it. A script that answers 0 refuses.
func (l *lock) eval(ctx context.Context, s *goredis.Script, refusal error, keys []string, owner string, args ...any) (n int64,
	err error,
) {
	err = l.ask(owner, refusal, func() error {
		if n, err = s.Run(ctx, l.client, keys, append([]any{owner}, args...)...).Int64(); err == nil && n == 0 {
			err = errZero
		}
		return err
	})
	return n, err
}

var errZero = errors.New("the server returned 0, because the lock's key belongs to another client or does not exist")
