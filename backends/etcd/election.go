package etcd

import (
	"context"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// election is concurrency.Election: campaign as acquire, resign as release.
type election struct{ *sessions }

var _ backends.Locker = election{}

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
	info := e.c.info(req, int64(s.Lease()), e.c.lastSent(), one.Rev())
	info.Guard = one.Key()
	return &office{e: e, s: s, one: one, info: info}, nil
}

// TryAcquire is never called: see Spec.NoTry.
func (e election) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return e.Acquire(ctx, req)
}

// Close ends the client.
func (e election) Close() error { return e.close() }

type office struct {
	e    election
	s    *concurrency.Session
	one  *concurrency.Election
	info backends.Info
}

// Info is what was granted.
func (o *office) Info() backends.Info { return o.info }

// Release is Resign. It says nothing of whether it was still in office: if the lease lives after it,
// nothing else can have ended it.
func (o *office) Release(ctx context.Context) error {
	defer o.e.done(o.s)
	ctx, cancel := context.WithTimeout(ctx, o.e.c.env.Timeout)
	defer cancel()
	if err := o.one.Resign(ctx); err != nil {
		return outcome(err)
	}
	return o.e.c.lived(ctx, int64(o.s.Lease()))
}
