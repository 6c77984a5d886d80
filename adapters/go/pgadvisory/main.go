// Command pgadvisory is an advisory lock of PostgreSQL on a connection of pgx, by hand, as an adapter of lockstorm. Its
// connections lead through PgBouncer in transaction mode, where each statement may come to another connection of the server:
//
//	lockstorm run --backend exec:cmd=adapters/go/launch --nemesis none -- pgadvisory session
//	lockstorm run --backend exec:cmd=adapters/go/launch --nemesis none -- pgadvisory transaction
//
// With session the lock is of a session of the server (pg_try_advisory_lock), which is not the client's own. With transaction it
// is of a transaction (pg_try_advisory_xact_lock), for which the client has the server's connection to itself: what PgBouncer's
// users can do.
package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

const module = "github.com/jackc/pgx/v5"

type adapter struct {
	open        lockstorm.Request
	transaction bool
	idle        []*pgx.Conn // connections that hold nothing
}

func (a *adapter) About() lockstorm.Fields {
	doc := "pg_try_advisory_lock and pg_advisory_unlock through PgBouncer in transaction mode"
	if a.transaction {
		doc = "pg_try_advisory_xact_lock in a transaction, through PgBouncer in transaction mode"
	}
	return lockstorm.Fields{
		"name": "pgadvisory", "version": "1", "doc": doc, "topologies": []string{"postgres-pgbouncer", "postgres"},
		"ends":    "connection",
		"library": module + " " + lockstorm.Version(module), "versions": lockstorm.Fields{"pgx": lockstorm.Version(module)},
	}
}

func (a *adapter) Open(_ *lockstorm.Program, r lockstorm.Request) error {
	a.open = r
	return nil
}

// connect takes a connection that holds nothing, or opens one: a grant has its connection to itself, as one of a pool's. Through
// PgBouncer pgx needs a mode without prepared statements.
func (a *adapter) connect(ctx context.Context) (*pgx.Conn, error) {
	for len(a.idle) > 0 {
		c := a.idle[len(a.idle)-1]
		if a.idle = a.idle[:len(a.idle)-1]; !c.IsClosed() {
			return c, nil
		}
	}
	cfg, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%d user=lockstorm dbname=postgres sslmode=disable", a.open.Nodes[0].Host,
		a.open.Nodes[0].Port))
	if err != nil {
		return nil, err
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	ctx, cancel := context.WithTimeout(ctx, a.open.Timeout)
	defer cancel()
	return pgx.ConnectConfig(ctx, cfg)
}

// free keeps a connection that holds nothing for later. One that is still in a transaction is closed, which ends it.
func (a *adapter) free(c *pgx.Conn) {
	if c.IsClosed() || c.PgConn().TxStatus() != 'I' {
		c.Close(context.Background()) //nolint:errcheck // the server ends what is left
		return
	}
	a.idle = append(a.idle, c)
}

func (a *adapter) Attempt(ctx context.Context, r lockstorm.Request) (lockstorm.Hold, lockstorm.Fields, error) {
	conn, err := a.connect(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err)
	}
	take := "SELECT pg_try_advisory_lock($1)"
	if a.transaction {
		if _, err := conn.Exec(ctx, "BEGIN"); err != nil {
			a.free(conn)
			return nil, nil, err
		}
		take = "SELECT pg_try_advisory_xact_lock($1)"
	}
	h := &hold{a: a, conn: conn, key: key(a.open.Run + "/" + r.Lock)}
	sent := lockstorm.Now()
	ok, err := h.ask(ctx, take)
	if err == nil && ok {
		return h, lockstorm.Fields{"sent": sent}, nil
	}
	if err == nil {
		err = lockstorm.ErrBusy
		if a.transaction {
			conn.Exec(ctx, "ROLLBACK") //nolint:errcheck // where it fails, the connection is closed
		}
	}
	a.free(conn)
	return nil, nil, err
}

func key(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int64(h.Sum64())
}

type hold struct {
	a    *adapter
	conn *pgx.Conn
	key  int64
	over bool // its connection is for other grants
}

func (h *hold) ask(ctx context.Context, statement string) (ok bool, err error) {
	err = h.conn.QueryRow(ctx, statement, h.key).Scan(&ok)
	return ok, err
}

func (h *hold) Release() error {
	if h.over {
		return fmt.Errorf("%w: an earlier release of this grant has already ended", lockstorm.ErrNotHeld)
	}
	h.over = true
	ctx := context.Background()
	defer h.a.free(h.conn)
	if h.conn.IsClosed() {
		return errors.New("the connection to the server was lost")
	}
	if h.a.transaction {
		tag, err := h.conn.Exec(ctx, "COMMIT")
		if err == nil && tag.String() != "COMMIT" {
			err = fmt.Errorf("COMMIT ended with %s", tag)
		}
		return err
	}
	ok, err := h.ask(ctx, "SELECT pg_advisory_unlock($1)")
	if err == nil && !ok {
		return fmt.Errorf("%w: pg_advisory_unlock returned false", lockstorm.ErrNotHeld)
	}
	return err
}

func main() {
	lockstorm.Serve(&adapter{transaction: slices.Contains(os.Args[1:], "transaction")})
}
