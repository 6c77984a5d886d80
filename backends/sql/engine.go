package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/backends"
)

// engine has what differs between the databases.
type engine struct {
	name     string
	register string // name of the register that lives in it
	library  string
	open     func(env backends.Env, node string) (*stdsql.DB, error)
	numbered bool              // placeholders are $1, $2 and not ?
	words    map[string]string // what stands for {word} in a statement
	// answer returns the code of a server's answer, and whether the connection ends with it; empty: err is no answer.
	answer func(err error) (code string, ends bool)
	known  map[string]error // what an answer of a code says for certain
	synced string           // says of how many of how many replicas it is known that they have all
	// settings prepare a new connection: a waiter gives up after so many seconds.
	settings func(seconds int) []string
	leads    string // asks whether the server takes writes: 1
}

// engineOf is the engine of a topology's servers, by their names.
func engineOf(node string) (*engine, error) {
	for _, e := range []*engine{&postgres, &mariadb} {
		if strings.HasPrefix(node, e.name+"-") {
			return e, nil
		}
	}
	return nil, fmt.Errorf("server %s is neither a %s server nor a %s server", node, postgres.name, mariadb.name)
}

// text is a statement in the engine's own words.
func (e *engine) text(statement string) string {
	for word, own := range e.words {
		statement = strings.ReplaceAll(statement, "{"+word+"}", own)
	}
	if !e.numbered {
		return statement
	}
	var b strings.Builder
	n := 0
	for _, r := range statement {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		fmt.Fprintf(&b, "$%d", n)
	}
	return b.String()
}

// errRefused says that the server took a statement and refused it: the connection lives.
var errRefused = errors.New("the server refused the statement")

// errGone says that the connection on which a lock was held has ended.
var errGone = errors.New("the connection has ended")

// outcome returns what an error says for certain; sent says whether anything was sent since the statement began. The
// driver cannot say: pgx v5.12.0 calls a retry safe after a statement without arguments was sent and its answer was
// lost.
func (e *engine) outcome(err error, sent bool) error {
	switch {
	case err == nil:
		return nil
	case !sent:
		return fmt.Errorf("%w: %w: %w", backends.ErrNotSent, errGone, err)
	case errors.Is(err, driver.ErrBadConn):
		return fmt.Errorf("%w: %w", net.ErrClosed, err)
	}
	switch code, ends := e.answer(err); {
	case e.known[code] != nil:
		return fmt.Errorf("%w: %w", e.known[code], err)
	case code == "" || ends:
		return err
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// schema are the tables of both engines.
var schema = []string{
	"CREATE TABLE IF NOT EXISTS ls_data (id VARCHAR(190) PRIMARY KEY, value BIGINT NOT NULL, ledger BIGINT NOT NULL, version " +
		"BIGINT NOT NULL, changed BIGINT NOT NULL){kind}",
	"CREATE TABLE IF NOT EXISTS ls_keyless (id VARCHAR(190) NOT NULL, value BIGINT NOT NULL, ledger BIGINT NOT NULL){kind}",
	"CREATE TABLE IF NOT EXISTS ls_lock (id VARCHAR(190) PRIMARY KEY, owner VARCHAR(190) NOT NULL){kind}",
	"CREATE TABLE IF NOT EXISTS ls_lease (id VARCHAR(190) PRIMARY KEY, owner VARCHAR(190) NOT NULL, expires BIGINT NOT NULL, " +
		"token BIGINT NOT NULL){kind}",
}

// ended reports whether an error is not an answer of the server: then its connection is of no use
// any more.
func ended(err error) bool {
	if err == nil {
		return false
	}
	for _, answer := range []error{
		errRefused, backends.ErrBusy, backends.ErrNotHeld, backends.ErrDeadlock, backends.ErrConflict,
		stdsql.ErrNoRows,
	} {
		if errors.Is(err, answer) {
			return false
		}
	}
	return true
}

// counted is a connection that counts what leaves.
type counted struct {
	net.Conn
	writes *atomic.Int64
}

// Write counts.
func (c counted) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// nobody is a context that does not end with that of a request, for what must be done all the same.
func nobody(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
