package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockstorm/lockstorm/backends"
)

// txn is a lock of one key that a transaction creates where there is none, under a lease that the
// client keeps alive, one for each try: a try or a release whose answer is lost leaves nothing that
// outlives it. (Under one session for all, such a key would stay for as long as its client lives.)
// Its data is in etcd as well: each write asks for the key in its own transaction. It is the positive
// control: whatever happens to clients, none of them overwrites what it has not read.
type txn struct{ *sessions }

// Acquire watches the key until it goes, and tries again.
func (t txn) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	waits := req.Waiting(ctx)
	for {
		lease, rev, err := t.try(ctx, req)
		if lease != nil || err != nil {
			return lease, err
		}
		waits()
		if err := t.awaitGone(ctx, req, rev); err != nil {
			return nil, fmt.Errorf("%w: %w", backends.ErrBusy, err) // nothing was asked for since the refusal
		}
	}
}

// TryAcquire makes one try.
func (t txn) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	lease, _, err := t.try(ctx, req)
	if lease == nil && err == nil {
		err = backends.ErrBusy
	}
	return lease, err
}

// try creates the key; where another one has it, it says as of which revision.
func (t txn) try(ctx context.Context, req backends.Request) (backends.Lease, int64, error) {
	s, err := t.get(ctx, req.TTL)
	if err != nil {
		return nil, 0, err
	}
	key := prefix(t.c.env.Run, req.Lock) + "/lock"
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.c.env.Timeout)
	defer cancel()
	r, err := s.Client().Txn(limited).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, req.Owner, clientv3.WithLease(s.Lease()))).Commit()
	sent := t.c.sent.Load()
	if err != nil || !r.Succeeded {
		t.done(s)
		if err != nil {
			return nil, 0, outcome(err)
		}
		return nil, r.Header.Revision, nil
	}
	info := t.c.info(req, int64(s.Lease()), sent, r.Header.Revision)
	info.Guard = key
	return t.granted(info, s, func(ctx context.Context) error {
		del, err := s.Client().Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", info.Token)).Then(
			clientv3.OpDelete(key)).Commit()
		if err != nil {
			return outcome(err)
		}
		if !del.Succeeded {
			return fmt.Errorf("%w: the lock's key no longer exists, or belongs to another client", backends.ErrNotHeld)
		}
		return nil
	}), 0, nil
}

// awaitGone waits until the key is deleted, after the revision at which it was there.
func (t txn) awaitGone(ctx context.Context, req backends.Request, rev int64) error {
	lib, err := t.c.open()
	if err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	for r := range lib.Watch(watching, prefix(t.c.env.Run, req.Lock)+"/lock", clientv3.WithRev(rev+1)) {
		if err := r.Err(); err != nil {
			return nil // the history was compacted, say: the caller looks again
		}
		for _, e := range r.Events {
			if e.Type == clientv3.EventTypeDelete {
				return nil
			}
		}
	}
	return ctx.Err()
}
