package redis

import (
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
)

// renewScript extends the key only while it holds the caller's value.
var renewScript = goredis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`)

// takeWatchdog is SET NX PX with a goroutine that extends the key every third of its
// time to live, tells of the loss, and keeps a deadline of its own, measured from
// before each request.
func takeWatchdog(ctx context.Context, l *lock, req backends.Request) (backends.Lease, error) {
	info, err := l.setNX(ctx, req, req.TTL)
	if err != nil {
		return nil, err
	}
	own := &lease{l: l, req: req, info: info, release: releaseLua}
	return backends.Watch(ctx, own, l.env.Now, req, own.Extend), nil
}

var (
	_ backends.Extender = (*lease)(nil)
	_ backends.Asker    = (*lease)(nil)
	_ backends.Extender = (*redlockLease)(nil)
)

// Held looks whether the key has the lease's own value.
func (l *lease) Held(ctx context.Context) (bool, error) {
	owner, err := l.l.client.Get(ctx, l.l.key(l.req.Lock)).Result()
	if errors.Is(err, goredis.Nil) {
		return false, nil
	}
	return owner == l.info.Owner, err
}

// Extend prolongs the key while it holds the lease's own value.
func (l *lease) Extend(ctx context.Context) (backends.Renewal, error) {
	r := backends.Renewal{Sent: l.l.env.Now(), TTL: l.req.TTL}
	r.Deadline = r.Sent + l.req.TTL.Nanoseconds()
	_, err := l.l.eval(ctx, renewScript, backends.ErrNotHeld, []string{l.l.key(l.req.Lock)}, l.info.Owner, l.req.TTL.Milliseconds())
	if errors.Is(err, backends.ErrNotHeld) {
		err = backends.ErrNotHeld // in its own words
	}
	return r, err
}
