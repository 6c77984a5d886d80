package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/backends"
)

// leases is a table of leases: a row has an owner, and a time until which it is his. Each grant has
// the next token of its row.
type leases struct {
	*session
	heartbeat bool // extended every third of its time to live
	byClient  bool // by the clock of the client, and not of the server
}

// Acquire tries again and again.
func (s *leases) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, s.env, req, s.TryAcquire)
}

// TryAcquire takes the row if its lease is over.
func (s *leases) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	conn, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	id := s.id(req.Lock)
	if err := s.make(ctx, conn, tableLease, id); err != nil {
		return nil, err
	}
	info := backends.Info{
		Owner: req.Owner, Lease: req.LeaseName(), Sent: s.env.Now(), TTL: req.TTL, HasToken: true,
		Connection: s.connection(),
	}
	info.Deadline = info.Sent + req.TTL.Nanoseconds()
	if info.Token, err = s.take(ctx, conn, id, req); err != nil {
		return nil, err
	}
	l := &leaseRow{Granted: backends.Granted{Of: info, Give: func(ctx context.Context) error {
		return s.free(ctx, "UPDATE ls_lease SET owner = '', expires = 0 WHERE id = ? AND owner = ?", id, req.Owner)
	}}, s: s, id: id, req: req}
	if !s.heartbeat {
		return l, nil
	}
	return backends.Watch(ctx, l, s.env.Now, req, l.Extend), nil
}

// take is one statement, which gives the row its next token.
func (s *leases) take(ctx context.Context, conn *stdsql.Conn, id string, req backends.Request) (token int64, err error) {
	text := "UPDATE ls_lease SET owner = ?, expires = {clock} + ?, token = {counted on} WHERE id = ? AND expires <= {clock} " +
		"{returning}"
	text, args := s.clock(text), []any{req.Owner, req.TTL.Microseconds(), id}
	if s.e == &mariadb {
		r, err := s.exec(ctx, conn, text, args...)
		if err != nil {
			return 0, busy(err)
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return 0, errors.Join(err, backends.ErrBusy)
		}
		return r.LastInsertId()
	}
	err = s.ask(ctx, conn, &token, text, args...)
	if errors.Is(err, stdsql.ErrNoRows) {
		err = backends.ErrBusy
	}
	return token, busy(err)
}

// busy is a statement that waited for another one in vain.
func busy(err error) error {
	if errors.Is(err, backends.ErrConflict) || errors.Is(err, backends.ErrDeadlock) {
		return fmt.Errorf("%w: %w", backends.ErrBusy, err)
	}
	return err
}

// clock is a statement with the time in it, as the server or the client has it.
func (s *leases) clock(text string) string {
	now := "{now}"
	if s.byClient {
		now = fmt.Sprint(time.Now().UnixMicro())
	}
	return strings.ReplaceAll(text, "{clock}", now)
}

// leaseRow is a row that is ours until its lease is over.
type leaseRow struct {
	backends.Granted
	s   *leases
	id  string
	req backends.Request
}

var _ backends.Extender = (*leaseRow)(nil)

// Extend prolongs the lease while the row has the owner's name in it.
func (l *leaseRow) Extend(ctx context.Context) (backends.Renewal, error) {
	conn, err := l.s.open(ctx)
	r := backends.Renewal{Sent: l.s.env.Now(), TTL: l.req.TTL}
	r.Deadline = r.Sent + r.TTL.Nanoseconds()
	if err != nil {
		return r, err
	}
	text := l.s.clock("UPDATE ls_lease SET expires = {clock} + ? WHERE id = ? AND owner = ?")
	n, err := l.s.changed(ctx, conn, text, l.req.TTL.Microseconds(), l.id, l.req.Owner)
	if err == nil && n == 0 {
		err = backends.ErrNotHeld
	}
	return r, err
}
