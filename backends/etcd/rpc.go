package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// rpc is the lock service of the server: Lock and Unlock, under a lease that the client keeps alive.
// Of a session of package concurrency it is only that lease.
type rpc struct{ *sessions }

// Acquire is the call Lock, which waits in the server.
func (l rpc) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	s, err := l.get(ctx, req.TTL)
	if err != nil {
		return nil, err
	}
	req.Reach(ctx, history.AtWaiting)
	service := v3lockpb.NewLockClient(s.Client().ActiveConnection())
	r, err := service.Lock(ctx, &v3lockpb.LockRequest{Name: []byte(prefix(l.c.env.Run, req.Lock)), Lease: int64(s.Lease())})
	sent := l.c.sent.Load()
	if err == nil {
		var token int64
		if token, err = l.token(ctx, s, string(r.Key)); err == nil {
			info := l.c.info(req, int64(s.Lease()), sent, token)
			info.Guard = string(r.Key)
			// The call Unlock does not say whether there was a key.
			return l.granted(info, s, func(ctx context.Context) error {
				if _, err := service.Unlock(ctx, &v3lockpb.UnlockRequest{Key: r.Key}); err != nil {
					return outcome(err)
				}
				return l.c.lived(ctx, int64(s.Lease()))
			}), nil
		}
	}
	l.done(s)
	return nil, outcome(err)
}

// TryAcquire is never called: see Spec.NoTry.
func (l rpc) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return l.Acquire(ctx, req)
}

// lived asks, after a release that does not say whether it deleted anything, whether the lease is
// alive still: then nothing but the release can have ended the grant.
func (c *client) lived(ctx context.Context, id int64) error {
	lib, err := c.open()
	if err != nil {
		return err
	}
	r, err := lib.TimeToLive(ctx, clientv3.LeaseID(id))
	if err != nil {
		return outcome(err)
	}
	if r.TTL < 0 { // 0: less than a second is left
		return errors.New("unknown outcome of the release: the lease has ended, and it is possible that the lock was already free " +
			"before the release")
	}
	return nil
}
