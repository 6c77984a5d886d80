package sql

import (
	"context"
	stdsql "database/sql"
	"fmt"

	"github.com/lockstorm/lockstorm/backends"
)

// Conditions under which an optimistic write is applied.
const (
	byVersion   = "version = ? AND id = ?"
	byNoID      = "version = ?" // flawed: of every row
	byValue     = "value = ? AND id = ?"
	byTimestamp = "changed = ? AND id = ?"
)

// optimistic takes no lock: a write is applied if the row is as it was read.
type optimistic struct {
	*session
	condition  string
	resolution int64 // of time stamps, us
}

var (
	_ backends.Locker   = (*optimistic)(nil)
	_ backends.Resource = (*optimistic)(nil)
)

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
	return &pass{backends.Info{Owner: req.Owner, Sent: o.env.Now(), Connection: o.connection()}}, nil
}

// pass is a grant that locks nothing.
type pass struct{ info backends.Info }

// Info is what was granted.
func (p *pass) Info() backends.Info { return p.info }

// Release has nothing to give back.
func (*pass) Release(context.Context) error { return nil }

// Open is the row of a lock.
func (o *optimistic) Open(_ context.Context, lock, _ string, _ backends.Info) (backends.Access, error) {
	return &snapshot{o: o, id: o.id(lock)}, nil
}

// snapshot is a row as it was read.
type snapshot struct {
	o                *optimistic
	id               string
	version, changed int64
}

// Read reads the row, and what its version is.
func (s *snapshot) Read(ctx context.Context, _ string) (value int64, err error) {
	conn, err := s.o.open(ctx)
	if err != nil {
		return 0, err
	}
	err = s.o.row(ctx, conn, s.o.env.Timeout, []any{&value, &s.version, &s.changed}, "SELECT value, version, changed FROM ls_data WHERE id = ?", s.id)
	return value, err
}

// Write replaces the row if it is as it was read.
func (s *snapshot) Write(ctx context.Context, _ string, base, value int64) error {
	conn, err := s.o.open(ctx)
	if err != nil {
		return err
	}
	seen := map[string]int64{byVersion: s.version, byNoID: s.version, byValue: base, byTimestamp: s.changed}[s.o.condition]
	args := []any{value, seen}
	if s.o.condition != byNoID {
		args = append(args, s.id)
	}
	stamp := fmt.Sprintf("{now} - {now} %% %d", max(s.o.resolution, 1))
	n, err := s.write(ctx, conn, stamp, args)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: the row is not as it was read", backends.ErrStaleToken)
	}
	return err
}

func (s *snapshot) write(ctx context.Context, conn *stdsql.Conn, stamp string, args []any) (int64, error) {
	return s.o.changed(ctx, conn, "UPDATE ls_data SET value = ?, version = version + 1, changed = "+stamp+" WHERE "+s.o.condition, args...)
}
