package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/backends"
)

// Conditions under which an optimistic update is applied.
const (
	byVersion   = "version = ? AND id = ?"
	byNoID      = "version = ?" // flawed: of every row
	byValue     = "value = ? AND id = ?"
	byTimestamp = "changed = ? AND id = ?"
)

// optimistic takes no lock: what a section has written is applied at its end, by one statement, if the
// row is as it was read.
type optimistic struct {
	*session
	condition  string
	resolution int64 // of time stamps, us

	last *snapshot
}

var _ backends.Resource = (*optimistic)(nil)

// Acquire has the row be there; it lets everybody in.
func (o *optimistic) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return o.TryAcquire(ctx, req)
}

// TryAcquire is the same.
func (o *optimistic) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	conn, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := o.make(nobody(ctx), conn, tableData, o.id(req.Lock)); err != nil {
		return nil, err
	}
	o.last = &snapshot{o: o, id: o.id(req.Lock), info: backends.Info{
		Owner: req.Owner, Sent: o.env.Now(),
		Connection: o.connection(),
	}}
	return o.last, nil
}

// Open is the row of the last grant.
func (o *optimistic) Open(_ context.Context, lock, _ string, info backends.Info) (backends.Access, error) {
	if o.last == nil || o.last.id != o.id(lock) || o.last.info.Owner != info.Owner {
		return nil, fmt.Errorf("%w: the client has not read the row in this critical section", backends.ErrNotSent)
	}
	return o.last, nil
}

// snapshot is a row as it was read, and the values to write. It is the grant as well, which locks nothing.
type snapshot struct {
	o    *optimistic
	id   string
	info backends.Info

	seen row
	next row
	read bool // the row was read
	sets bool // something is to be written
	came error
	done bool
}

type row struct{ value, ledger, version, changed int64 }

var _ backends.Settler = (*snapshot)(nil)

// Info is what was granted.
func (s *snapshot) Info() backends.Info { return s.info }

// Read reads the row once, and what its version is.
func (s *snapshot) Read(ctx context.Context, register string) (int64, error) {
	if !s.read {
		conn, err := s.o.open(ctx)
		if err != nil {
			return 0, err
		}
		err = s.o.row(ctx, conn, s.o.env.Timeout, []any{&s.seen.value, &s.seen.ledger, &s.seen.version, &s.seen.changed},
			"SELECT value, ledger, version, changed FROM ls_data WHERE id = ?", s.id)
		if err != nil {
			return 0, err
		}
		s.read, s.next = true, s.seen
	}
	return *s.seen.of(register), nil
}

// of is one value of a row.
func (r *row) of(register string) *int64 {
	if column(register) == columnLedger {
		return &r.ledger
	}
	return &r.value
}

// Write notes what the release is to write.
func (s *snapshot) Write(_ context.Context, register string, _, value int64) error {
	if !s.read {
		return fmt.Errorf("%w: the client must read the row before it writes the row", backends.ErrNotSent)
	}
	*s.next.of(register), s.sets = value, true
	return nil
}

// Release replaces the row if it is as it was read. There is no lock to give back.
func (s *snapshot) Release(ctx context.Context) error {
	s.done = true
	if !s.sets {
		return nil
	}
	conn, err := s.o.open(ctx)
	if err != nil {
		s.came = errors.Join(errUndone, err)
		return nil
	}
	s.came = s.update(ctx, conn)
	return nil
}

func (s *snapshot) update(ctx context.Context, conn *stdsql.Conn) error {
	seen := map[string]int64{
		byVersion: s.seen.version, byNoID: s.seen.version, byValue: s.seen.value,
		byTimestamp: s.seen.changed,
	}[s.o.condition]
	args := []any{s.next.value, s.next.ledger, seen}
	if s.o.condition != byNoID {
		args = append(args, s.id)
	}
	stamp := fmt.Sprintf("{now} - {now} %% %d", max(s.o.resolution, 1))
	n, err := s.o.changed(ctx, conn, "UPDATE ls_data SET value = ?, ledger = ?, version = version + 1, changed = "+stamp+" WHERE "+
		s.o.condition, args...)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: the row has changed since it was read", backends.ErrStaleToken)
	}
	return err
}

// Settled is what became of the update.
func (s *snapshot) Settled() (done bool, err error) { return s.done, s.came }
