package redis

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
)

// releaseDel deletes the key, whoever holds it.
func releaseDel(ctx context.Context, l *lease) error {
	key := l.l.key(l.req.Lock)
	return l.l.ask(key, backends.ErrNotHeld, func() error {
		n, err := l.l.client.Del(ctx, key).Result()
		if err == nil && n == 0 {
			err = errZero
		}
		return err
	})
}

// releaseGetDel looks whether the key is its own and then deletes it: in between it may
// have become somebody else's.
func releaseGetDel(ctx context.Context, l *lease) error {
	owner := ""
	key := l.l.key(l.req.Lock)
	err := l.l.ask(key, backends.ErrNotHeld, func() (err error) {
		owner, err = l.l.client.Get(ctx, key).Result()
		return err
	})
	switch {
	case err != nil:
		return err
	case owner != l.info.Owner:
		return backends.ErrNotHeld
	}
	l.req.Reach(ctx, pointGetDel)
	return releaseDel(ctx, l)
}

// compareAndDelete deletes the key only while it holds the caller's value.
var compareAndDelete = goredis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0`)

// releaseLua compares and deletes in one atomic step.
func releaseLua(ctx context.Context, l *lease) error {
	_, err := l.l.eval(ctx, compareAndDelete, backends.ErrNotHeld, []string{l.l.key(l.req.Lock)}, l.info.Owner)
	return err
}

// unknown hides that a part of an operation was definitely not done, where an earlier
// part of it may have been.
func unknown(err error) error {
	return fmt.Errorf("unknown outcome: the lock's key was set, but a later step of the acquire failed: %v", err) //nolint:errorlint // hidden on purpose
}
