package etcd

import (
	"context"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// election is concurrency.Election: campaign as acquire, resign as release.
type election struct{ *sessions }

// Acquire is Campaign.
func (e election) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	s, err := e.get(ctx, req.TTL)
	if err != nil {
		return nil, err
	}
	req.Reach(ctx, history.AtWaiting)
	one := concurrency.NewElection(s, prefix(e.c.env.Run, req.Lock))
	if err := one.Campaign(ctx, req.Owner); err != nil {
		e.done(s)
		return nil, outcome(err)
	}
	info := e.c.info(req, int64(s.Lease()), e.c.sent.Load(), one.Rev())
	info.Guard = one.Key()
	// Resign says nothing of whether it was still in office: if the lease lives after it, nothing else can have ended it.
	return e.granted(info, s, func(ctx context.Context) error {
		if err := one.Resign(ctx); err != nil {
			return outcome(err)
		}
		return e.c.lived(ctx, int64(s.Lease()))
	}), nil
}

// TryAcquire is never called: see Spec.NoTry.
func (e election) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return e.Acquire(ctx, req)
}
