package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// mutex is concurrency.Mutex as its users call it: a session, NewMutex, Lock or TryLock, Unlock,
// and, where the session is of this lock alone, Close.
type mutex struct{ *sessions }

// Acquire is Lock.
func (m mutex) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return m.lock(ctx, req, func(mu *concurrency.Mutex, ctx context.Context) error {
		req.Reach(ctx, history.AtWaiting)
		return mu.Lock(ctx)
	})
}

// TryAcquire is TryLock, for as long as a user would wait for an answer.
func (m mutex) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, m.c.env.Timeout)
	defer cancel()
	return m.lock(ctx, req, (*concurrency.Mutex).TryLock)
}

func (m mutex) lock(ctx context.Context, req backends.Request,
	take func(*concurrency.Mutex, context.Context) error,
) (backends.Lease, error) {
	s, err := m.get(ctx, req.TTL)
	if err != nil {
		return nil, err
	}
	mu := concurrency.NewMutex(s, prefix(m.c.env.Run, req.Lock))
	err = take(mu, ctx)
	sent := m.c.sent.Load()
	if err != nil {
		revoked := m.done(s)
		if errors.Is(err, concurrency.ErrLocked) || (ctx.Err() != nil && revoked) {
			return nil, fmt.Errorf("%w: %w", backends.ErrBusy, err)
		}
		return nil, outcome(err)
	}
	token, err := m.token(ctx, s, mu.Key())
	if err != nil {
		m.done(s)
		return nil, outcome(err)
	}
	info := m.c.info(req, int64(s.Lease()), sent, token)
	info.Guard = mu.Key()
	// Unlock says nil also where there was nothing to delete: what the server said is seen on the wire.
	return m.granted(info, s, func(ctx context.Context) error {
		if err := mu.Unlock(ctx); err != nil {
			return outcome(err)
		}
		return m.c.removed()
	}), nil
}

// token is the create revision of the lock's key, which its user would have to ask for, too.
func (s *sessions) token(ctx context.Context, one *concurrency.Session, key string) (int64, error) {
	r, err := one.Client().Get(ctx, key)
	if err != nil {
		return 0, err
	}
	if len(r.Kvs) == 0 {
		return 0, concurrency.ErrSessionExpired
	}
	return r.Kvs[0].CreateRevision, nil
}

// removed returns the outcome of the last delete.
func (c *client) removed() error {
	if c.gone.Load() == 0 {
		return fmt.Errorf("%w: the client could not delete the lock's key, because the key no longer existed", backends.ErrNotHeld)
	}
	return nil
}
