package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// advisory is a lock that the server keeps for a session, or for a transaction of it: it ends with
// the connection at the latest.
type advisory struct {
	*session
	scope string        // of PostgreSQL: scopeSession or scopeTransaction
	watch time.Duration // how often the holder looks whether its connection lives; 0: never
	idle  time.Duration // after so long without a statement the server ends the connection; 0: never
}

// Scopes of an advisory lock of PostgreSQL.
const (
	scopeSession     = "session"
	scopeTransaction = "transaction"
)

// Acquire waits in the server until the lock is free.
func (a *advisory) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	req.Reach(ctx, history.AtWaiting)
	for {
		lease, err := a.lock(ctx, req, true)
		if err == nil || !errors.Is(err, backends.ErrBusy) || ctx.Err() != nil {
			return lease, err
		}
	}
}

// TryAcquire does not wait.
func (a *advisory) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return a.lock(ctx, req, false)
}

func (a *advisory) lock(ctx context.Context, req backends.Request, wait bool) (backends.Lease, error) {
	ctx = nobody(ctx)
	conn, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	l := &advisoryLease{
		a: a, conn: conn, key: a.keyOf(req.Lock), req: req,
		info: backends.Info{Owner: req.Owner, Connection: a.connection()},
	}
	if a.scope == scopeTransaction {
		if _, err := a.exec(ctx, conn, "BEGIN"); err != nil {
			return nil, fmt.Errorf("%w: %w", backends.ErrNotSent, err)
		}
	}
	l.info.Sent = a.env.Now()
	if err := a.take(ctx, conn, l.key, wait); err != nil {
		if a.scope == scopeTransaction && !ended(err) {
			a.exec(ctx, conn, "ROLLBACK") //nolint:errcheck // nothing was locked; a connection that broke is told of
		}
		return nil, err
	}
	l.hold = a.join(conn, func(reason string) { req.Hooks.Lost(l.info.Lease, reason) })
	if a.idle > 0 {
		return a.leased(ctx, l)
	}
	if a.watch > 0 {
		l.watching(ctx)
	}
	return l, nil
}

// take asks for the lock: one row, 1 if it is ours.
func (a *advisory) take(ctx context.Context, conn *stdsql.Conn, key any, wait bool) error {
	if a.e == &mariadb {
		seconds, limit := 0, a.env.Timeout
		if wait {
			seconds, limit = a.patience(), a.waitLimit()
		}
		return a.granted(ctx, conn, limit, "SELECT GET_LOCK(?, ?)", key, seconds)
	}
	kind := map[string]string{scopeSession: "advisory", scopeTransaction: "advisory_xact"}[a.scope]
	if !wait {
		return a.granted(ctx, conn, a.env.Timeout, "SELECT CASE WHEN pg_try_"+kind+"_lock(?) THEN 1 ELSE 0 END", key)
	}
	return a.do(ctx, conn, a.waitLimit(), func(ctx context.Context) error {
		_, err := conn.ExecContext(ctx, a.e.text("SELECT pg_"+kind+"_lock(?)"), key)
		return err
	})
}

// granted reads an answer of 1, 0 or nothing.
func (a *advisory) granted(ctx context.Context, conn *stdsql.Conn, limit time.Duration, text string, args ...any) error {
	var ours stdsql.NullInt64
	switch err := a.row(ctx, conn, limit, []any{&ours}, text, args...); {
	case err != nil:
		return err
	case !ours.Valid || ours.Int64 != 1:
		return backends.ErrBusy
	}
	return nil
}

// keyOf is what the server knows a lock by: a number, or a name that is not too long.
func (a *advisory) keyOf(lock string) any {
	h := fnv.New64a()
	h.Write([]byte(a.id(lock)))
	if a.e == &mariadb {
		return fmt.Sprintf("lockstorm-%016x", h.Sum64())
	}
	return int64(h.Sum64()) // any number will do
}

// leased is a lock whose connection the server ends when it hears nothing for a while: a lease, which
// every statement renews.
func (a *advisory) leased(ctx context.Context, l *advisoryLease) (backends.Lease, error) {
	l.info.Lease, l.info.TTL = l.req.LeaseName(), a.idle
	r, err := l.ping(ctx) // it may have waited for longer than that
	if err != nil {
		return nil, errors.Join(err, backends.ErrNotHeld)
	}
	l.info.Sent, l.info.Deadline = r.Sent, r.Deadline
	if a.watch == 0 {
		return l, nil
	}
	req := l.req
	req.TTL = a.idle
	return backends.Watch(ctx, l, a.env.Now, req, l.ping), nil
}

// advisoryLease is a lock that is held.
type advisoryLease struct {
	a    *advisory
	conn *stdsql.Conn
	key  any
	req  backends.Request
	hold *hold
	info backends.Info

	once sync.Once
	stop chan struct{} // nil: nobody watches
	done chan struct{}
}

// Info is what was granted.
func (l *advisoryLease) Info() backends.Info { return l.info }

// watching asks the server for nothing again and again: who has lost its connection is told then.
func (l *advisoryLease) watching(ctx context.Context) {
	l.stop, l.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.done)
		tick := time.NewTicker(l.a.watch)
		defer tick.Stop()
		for {
			select {
			case <-l.stop:
				return
			case <-tick.C:
			}
			l.ping(ctx) //nolint:errcheck // who holds something on the connection is told
			if !l.a.alive(l.conn) {
				return
			}
		}
	}()
}

// StopRenewing ends the watch.
func (l *advisoryLease) StopRenewing() {
	if l.stop == nil {
		return
	}
	l.once.Do(func() { close(l.stop) })
	<-l.done
}

// ping has the server hear of us. Whoever held something on a connection that has ended is told.
func (l *advisoryLease) ping(ctx context.Context) (backends.Renewal, error) {
	r := backends.Renewal{Sent: l.a.env.Now(), TTL: l.a.idle}
	r.Deadline = r.Sent + r.TTL.Nanoseconds()
	if !l.a.alive(l.conn) {
		return r, backends.ErrNotHeld
	}
	_, err := l.a.exec(ctx, l.conn, "SELECT 1")
	if err == nil && !l.a.alive(l.conn) {
		err = backends.ErrNotHeld
	}
	return r, err
}

// Release gives the lock back on the connection that holds it.
func (l *advisoryLease) Release(ctx context.Context) error {
	l.StopRenewing()
	if !l.a.alive(l.conn) {
		return fmt.Errorf("%w: %w", net.ErrClosed, errGone) // the server frees it, sooner or later
	}
	l.a.leave(l.hold)
	err := l.give(ctx)
	if errors.Is(err, backends.ErrNotSent) {
		return fmt.Errorf("%w: %w", net.ErrClosed, errGone)
	}
	return err
}

func (l *advisoryLease) give(ctx context.Context) error {
	if l.a.scope == scopeTransaction {
		_, err := l.a.exec(ctx, l.conn, "COMMIT")
		return err
	}
	text := "SELECT CASE WHEN pg_advisory_unlock(?) THEN 1 ELSE 0 END"
	if l.a.e == &mariadb {
		text = "SELECT RELEASE_LOCK(?)"
	}
	err := l.a.granted(ctx, l.conn, l.a.env.Timeout, text, l.key)
	if errors.Is(err, backends.ErrBusy) {
		return fmt.Errorf("%w: the server says that this connection does not hold the lock", backends.ErrNotHeld)
	}
	return err
}
