package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// rows is SELECT ... FOR UPDATE: the lock is a row, and the data is written in the transaction that
// has locked it. Locks that a client takes one inside the other are of one transaction, and the last
// release commits it.
type rows struct {
	*session
	table     string
	isolation string // empty: that of the engine
	missing   bool   // the row need not be there: who finds none believes that nobody has it

	tx *transaction // nil: none is open
}

var _ backends.Resource = (*rows)(nil)

// transaction is one that is open, or what became of it.
type transaction struct {
	conn   *stdsql.Conn
	grants []*rowLease
	over   bool
	given  error // what a release says: nil, the locks were given back for certain
	came   error // what became of what was written
}

// Acquire waits in the server until the row is free.
func (r *rows) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	req.Reach(ctx, history.AtWaiting)
	for {
		lease, err := r.lock(nobody(ctx), req, "")
		if err == nil || !errors.Is(err, backends.ErrBusy) || ctx.Err() != nil || r.tx != nil {
			return lease, err
		}
	}
}

// TryAcquire does not wait.
func (r *rows) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return r.lock(nobody(ctx), req, " NOWAIT")
}

func (r *rows) lock(ctx context.Context, req backends.Request, how string) (backends.Lease, error) {
	conn, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	id := r.id(req.Lock)
	if !r.missing {
		if err := r.make(ctx, conn, r.table, id); err != nil {
			return nil, err
		}
	}
	t, err := r.begin(ctx, conn)
	if err != nil {
		return nil, err
	}
	l := &rowLease{r: r, t: t, id: id, info: backends.Info{Owner: req.Owner, Sent: r.env.Now(), Connection: r.connection()}}
	err = r.row(ctx, conn, r.waitLimit(), []any{&l.value}, "SELECT value FROM "+r.table+" WHERE id = ? FOR UPDATE"+how, id)
	switch {
	case errors.Is(err, stdsql.ErrNoRows) && r.missing:
		l.absent = true
	case errors.Is(err, stdsql.ErrNoRows):
		err = fmt.Errorf("%w: the lock's row does not exist", errRefused)
		fallthrough
	case err != nil:
		r.undo(ctx, t, err)
		return nil, err
	}
	t.grants = append(t.grants, l)
	l.hold = r.join(conn, func(reason string) { req.Hooks.Lost("", reason) })
	return l, nil
}

// begin is the open transaction, or a new one. Until a row is asked for nothing is locked.
func (r *rows) begin(ctx context.Context, conn *stdsql.Conn) (*transaction, error) {
	if r.tx != nil && r.tx.conn == conn {
		return r.tx, nil
	}
	for _, text := range beginning(r.e, r.isolation) {
		if _, err := r.exec(ctx, conn, text); err != nil {
			return nil, fmt.Errorf("%w: %w", backends.ErrNotSent, err)
		}
	}
	r.tx = &transaction{conn: conn}
	return r.tx, nil
}

// beginning begins a transaction in an isolation level.
func beginning(e *engine, isolation string) []string {
	switch {
	case isolation == "":
		return []string{"BEGIN"}
	case e == &mariadb:
		return []string{"SET TRANSACTION ISOLATION LEVEL " + isolation, "BEGIN"}
	}
	return []string{"BEGIN ISOLATION LEVEL " + isolation}
}

// errUndone says that nothing of a transaction was applied.
var errUndone = fmt.Errorf("%w: the transaction was rolled back", backends.ErrConflict)

// undo rolls a transaction back after an error, and tells those that had a row in it.
func (r *rows) undo(ctx context.Context, t *transaction, why error) {
	if t.over {
		return
	}
	t.over, t.came = true, errUndone
	if r.tx == t {
		r.tx = nil
	}
	if !r.alive(t.conn) {
		t.given = fmt.Errorf("%w: %w", net.ErrClosed, errGone) // the server notices, sooner or later
		return
	}
	if _, err := r.exec(ctx, t.conn, "ROLLBACK"); err != nil {
		t.given = err
		if r.alive(t.conn) {
			r.over(t.conn, "the transaction could not be rolled back")
		}
		return
	}
	for _, l := range t.grants {
		r.leave(l.hold)
		l.hold.lost("the transaction was rolled back: " + why.Error())
	}
}

// commit ends a transaction.
func (r *rows) commit(ctx context.Context, t *transaction) {
	if t.over {
		return
	}
	if !r.alive(t.conn) {
		r.undo(ctx, t, errGone)
		return
	}
	t.over, r.tx = true, nil
	for _, l := range t.grants {
		r.leave(l.hold)
	}
	_, err := r.exec(ctx, t.conn, "COMMIT")
	switch {
	case err == nil:
	case errors.Is(err, backends.ErrNotSent):
		t.given, t.came = fmt.Errorf("%w: %w: %w", net.ErrClosed, errGone, err), fmt.Errorf("%w: %w", errUndone, err)
	case ended(err):
		t.given, t.came = err, err
	default: // refused: the server has rolled it back
		t.came = fmt.Errorf("%w: %w", errUndone, err)
	}
}

// rowLease is a row that is locked.
type rowLease struct {
	r        *rows
	t        *transaction
	id       string
	value    int64
	absent   bool
	hold     *hold
	released bool
	info     backends.Info
}

var _ backends.Settler = (*rowLease)(nil)

// Info is what was granted.
func (l *rowLease) Info() backends.Info { return l.info }

// Release commits, where nothing else is locked in the transaction.
func (l *rowLease) Release(ctx context.Context) error {
	l.released = true
	if slices.ContainsFunc(l.t.grants, func(o *rowLease) bool { return !o.released }) && !l.t.over {
		return nil // it is given back with the others
	}
	l.r.commit(ctx, l.t)
	return l.t.given
}

// Settled is what became of what was written.
func (l *rowLease) Settled() (done bool, err error) { return l.t.over, l.t.came }

// Open is the row that was locked last under that name.
func (r *rows) Open(_ context.Context, lock, _ string, info backends.Info) (backends.Access, error) {
	if r.tx != nil {
		for _, l := range slices.Backward(r.tx.grants) {
			if l.id == r.id(lock) && l.info.Owner == info.Owner {
				return l, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: the transaction has already ended", backends.ErrNotSent)
}

// Read reads the row in its transaction.
func (l *rowLease) Read(ctx context.Context, register string) (value int64, err error) {
	if l.t.over {
		return 0, fmt.Errorf("%w: the transaction has already ended", backends.ErrNotSent)
	}
	err = l.r.ask(ctx, l.t.conn, &value, "SELECT "+column(register)+" FROM "+l.r.table+" WHERE id = ? ORDER BY value DESC LIMIT 1",
		l.id)
	if errors.Is(err, stdsql.ErrNoRows) && l.r.missing {
		return 0, nil
	}
	return value, l.broke(ctx, err)
}

// Write changes the row, or makes it where none was found. It takes effect with the commit.
func (l *rowLease) Write(ctx context.Context, register string, _, value int64) error {
	if l.t.over {
		return fmt.Errorf("%w: the transaction has already ended", backends.ErrNotSent)
	}
	text, args := "UPDATE "+l.r.table+" SET "+column(register)+" = ? WHERE id = ?", []any{value, l.id}
	if l.absent {
		text, args = insertion(l.r.table), []any{l.id, value}
	}
	n, err := l.r.changed(ctx, l.t.conn, text, args...)
	if err == nil && n == 0 && !l.absent {
		err = fmt.Errorf("%w: the lock's row no longer exists", errRefused)
	}
	l.absent = false
	if err = l.broke(ctx, err); err != nil {
		return fmt.Errorf("%w: %w", errUndone, err) // it was never committed
	}
	return nil
}

// columnLedger has the ledger that is written with the value of a row.
const columnLedger = "ledger"

// column is where a register is in a row.
func column(register string) string {
	if register == columnLedger {
		return columnLedger
	}
	return "value"
}

// insertion makes a row of data.
func insertion(table string) string {
	if table == tableKeyless {
		return "INSERT INTO " + table + " (id, value, ledger) VALUES (?, ?, 0)"
	}
	return "INSERT INTO " + table + " (id, value, ledger, version, changed) VALUES (?, ?, 0, 0, 0)"
}

// broke ends the transaction with an error.
func (l *rowLease) broke(ctx context.Context, err error) error {
	if err != nil {
		l.r.undo(ctx, l.t, err)
	}
	return err
}
