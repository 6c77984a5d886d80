package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/backends"
)

// unique is a row that only one can insert: who does holds the lock, until it is deleted.
type unique struct{ *session }

// Acquire tries again and again.
func (u unique) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, u.env, req, u.TryAcquire)
}

// TryAcquire inserts the row.
func (u unique) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	conn, err := u.open(ctx)
	if err != nil {
		return nil, err
	}
	info := backends.Info{Owner: req.Owner, Sent: u.env.Now(), Connection: u.connection()}
	_, err = u.exec(ctx, conn, "INSERT INTO ls_lock (id, owner) VALUES (?, ?)", u.id(req.Lock), req.Owner)
	if errors.Is(err, backends.ErrConflict) || errors.Is(err, backends.ErrDeadlock) {
		return nil, fmt.Errorf("%w: %w", backends.ErrBusy, err)
	}
	if err != nil {
		return nil, err
	}
	return &backends.Granted{Of: info, Give: func(ctx context.Context) error {
		return u.free(ctx, "DELETE FROM ls_lock WHERE id = ? AND owner = ?", u.id(req.Lock), req.Owner)
	}}, nil
}

// free runs a statement that frees the lock of an owner.
func (s *session) free(ctx context.Context, text string, args ...any) error {
	conn, err := s.open(ctx)
	if err != nil {
		return err
	}
	n, err := s.changed(ctx, conn, text, args...)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: the lock's row is missing or belongs to another client", backends.ErrNotHeld)
	}
	return err
}
