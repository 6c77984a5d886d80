package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/backends"
)

// session is the one connection of a client, dialled on first use and again when it has ended: a
// pool would take another one for the next statement without a word, and a lock of the session
// would be gone.
type session struct {
	env      backends.Env
	e        *engine
	settings []string // of the connection, beside the engine's

	writes atomic.Int64 // that have left on connections
	talk   sync.Mutex   // held while a statement is under way: a connection carries one at a time

	mu    sync.Mutex
	dbs   map[string]*stdsql.DB
	conn  *stdsql.Conn
	name  string // that the server has for the connection
	holds []*hold
	made  map[string]bool // rows that are there
	ready bool            // the tables are there
}

// hold is a grant whose client is told when its connection ends.
type hold struct{ lost func(reason string) }

func newSession(env backends.Env) (*session, error) {
	if len(env.Nodes) == 0 {
		return nil, errors.New("this lock needs a database: choose a topology of PostgreSQL or MariaDB")
	}
	e, err := engineOf(env.Nodes[0].Name)
	if err != nil {
		return nil, err
	}
	s := &session{e: e, dbs: map[string]*stdsql.DB{}, made: map[string]bool{}}
	dial := env.Dial
	env.Dial = func(ctx context.Context, node string) (net.Conn, error) {
		c, err := dial(ctx, node)
		if err != nil {
			return nil, err
		}
		return counted{c, &s.writes}, nil
	}
	s.env = env
	return s, nil
}

// patience is how long a statement waits for a lock, in whole seconds: then it is asked for again.
func (s *session) patience() int { return max(2, int((10*s.env.TTL+time.Second-1)/time.Second)) }

// id is the row of a lock: below the run's own name.
func (s *session) id(lock string) string { return rowID(s.env.Run, lock) }

func rowID(run, lock string) string { return run + "/" + lock }

// open returns the connection, and the name that the server has for it. Whatever fails here, no
// lock was asked for.
func (s *session) open(ctx context.Context) (*stdsql.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		return s.conn, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.env.Timeout)
	defer cancel()
	var errs []error
	for _, n := range s.env.Nodes {
		conn, err := s.connect(ctx, n.Name)
		if err == nil {
			s.conn = conn
			return conn, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", n.Name, err))
	}
	return nil, fmt.Errorf("%w: %w", backends.ErrNotSent, errors.Join(errs...))
}

// connect dials one server, and refuses one that follows another.
func (s *session) connect(ctx context.Context, node string) (conn *stdsql.Conn, err error) {
	db := s.dbs[node]
	if db == nil {
		if db, err = s.e.open(s.env, node); err != nil {
			return nil, err
		}
		s.dbs[node] = db
	}
	if conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if err = s.prepare(ctx, conn); err != nil {
		discard(conn)
		return nil, err
	}
	return conn, nil
}

func (s *session) prepare(ctx context.Context, conn *stdsql.Conn) error {
	if len(s.env.Nodes) > 1 {
		var leads int
		if err := conn.QueryRowContext(ctx, s.e.leads).Scan(&leads); err != nil || leads != 1 {
			return errors.Join(err, errors.New("the server does not accept writes"))
		}
	}
	statements := append(s.e.settings(s.patience()), s.settings...)
	if !s.ready {
		statements = append(statements, schema...)
	}
	for _, text := range statements {
		_, err := conn.ExecContext(ctx, s.e.text(text))
		if err != nil && !errors.Is(s.e.outcome(err, true), backends.ErrConflict) { // two clients make a table at once
			return err
		}
	}
	s.ready = true
	return conn.QueryRowContext(ctx, s.e.text("SELECT {connection}")).Scan(&s.name)
}

// discard ends a connection, in whatever state it is.
func discard(conn *stdsql.Conn) {
	conn.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // it ends the connection
	conn.Close()                                           //nolint:errcheck // it has ended
}

// over ends a connection that is of no use any more, and tells those who held something on it.
func (s *session) over(conn *stdsql.Conn, reason string) {
	s.mu.Lock()
	var hit []*hold
	if s.conn == conn {
		s.conn = nil
		hit, s.holds = s.holds, nil
	}
	s.mu.Unlock()
	discard(conn)
	for _, h := range hit {
		h.lost(reason)
	}
}

// do carries a statement out on a connection, and ends the connection where there was no answer.
func (s *session) do(ctx context.Context, conn *stdsql.Conn, limit time.Duration, f func(ctx context.Context) error) error {
	s.talk.Lock()
	defer s.talk.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	before := s.writes.Load()
	err := f(ctx)
	err = s.e.outcome(err, s.writes.Load() != before)
	if ended(err) {
		s.over(conn, "the connection has ended: "+err.Error())
	}
	return err
}

// exec carries out a statement.
func (s *session) exec(ctx context.Context, conn *stdsql.Conn, text string, args ...any) (r stdsql.Result, err error) {
	err = s.do(ctx, conn, s.env.Timeout, func(ctx context.Context) (err error) {
		r, err = conn.ExecContext(ctx, s.e.text(text), args...)
		return err
	})
	return r, err
}

// changed carries out a statement and says how many rows it has changed.
func (s *session) changed(ctx context.Context, conn *stdsql.Conn, text string, args ...any) (int64, error) {
	r, err := s.exec(ctx, conn, text, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// row asks for one row, for so long.
func (s *session) row(ctx context.Context, conn *stdsql.Conn, limit time.Duration, into []any, text string, args ...any) error {
	return s.do(ctx, conn, limit, func(ctx context.Context) error {
		return conn.QueryRowContext(ctx, s.e.text(text), args...).Scan(into...)
	})
}

// ask is row, within the time for one answer.
func (s *session) ask(ctx context.Context, conn *stdsql.Conn, into any, text string, args ...any) error {
	return s.row(ctx, conn, s.env.Timeout, []any{into}, text, args...)
}

// waitLimit is for a statement that waits for a lock: until the server gives up, and then some.
func (s *session) waitLimit() time.Duration {
	return time.Duration(s.patience())*time.Second + s.env.Timeout
}

// make has a row be there, in a statement of its own.
func (s *session) make(ctx context.Context, conn *stdsql.Conn, table, id string) error {
	if s.made[table+id] {
		return nil
	}
	var there int // an insertion would wait for who has locked the row
	if err := s.ask(ctx, conn, &there, "SELECT COUNT(*) FROM "+table+" WHERE id = ?", id); err != nil {
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	if there > 0 {
		s.made[table+id] = true
		return nil
	}
	fields := map[string]string{
		tableData:  "(id, value, ledger, version, changed) VALUES (?, 0, 0, 0, 0)",
		tableLease: "(id, owner, expires, token) VALUES (?, '', 0, 0)",
	}
	_, err := s.exec(ctx, conn, strings.Join([]string{"{insert}", table, fields[table], "{if absent}"}, " "), id)
	if err == nil || errors.Is(err, backends.ErrConflict) {
		s.made[table+id] = true
		return nil
	}
	return fmt.Errorf("%w: %w", backends.ErrNotSent, err) // no lock was asked for yet
}

// Names of the tables.
const (
	tableData    = "ls_data"
	tableKeyless = "ls_keyless"
	tableLock    = "ls_lock"
	tableLease   = "ls_lease"
)

// join has a grant be told when the connection ends.
func (s *session) join(conn *stdsql.Conn, lost func(reason string)) *hold {
	h := &hold{lost}
	s.mu.Lock()
	alive := s.conn == conn
	if alive {
		s.holds = append(s.holds, h)
	}
	s.mu.Unlock()
	if !alive {
		lost("the connection ended while the database granted the lock, so the lock is lost")
	}
	return h
}

// leave forgets a grant.
func (s *session) leave(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds = slices.DeleteFunc(s.holds, func(o *hold) bool { return o == h })
}

// alive reports whether a connection is still the client's.
func (s *session) alive(conn *stdsql.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn == conn
}

// connection is the name that the server has for it.
func (s *session) connection() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

// Close ends the connection, and with it all that it holds.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		discard(s.conn)
		s.conn = nil
	}
	var errs []error
	for _, db := range s.dbs {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}
