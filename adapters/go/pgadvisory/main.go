// Command pgadvisory is an advisory lock of PostgreSQL on one connection of pgx, by hand, as an adapter of lockstorm. Its connection leads through
// PgBouncer in transaction mode, where each statement may come to another connection of the server:
//
//	lockstorm run --backend exec:cmd=adapters/go/launch --nemesis none -- pgadvisory session
//	lockstorm run --backend exec:cmd=adapters/go/launch --nemesis none -- pgadvisory transaction
//
// With session the lock is of a session of the server (pg_try_advisory_lock), which is not the client's own. With transaction it is of a
// transaction (pg_try_advisory_xact_lock), for which the client has the server's connection to itself: what PgBouncer's users can do.
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
	conn        *pgx.Conn
}

func (a *adapter) About() lockstorm.Fields {
	doc := "pg_try_advisory_lock and pg_advisory_unlock through PgBouncer in transaction mode"
	if a.transaction {
		doc = "pg_try_advisory_xact_lock in a transaction, through PgBouncer in transaction mode"
	}
	return lockstorm.Fields{
		"name": "pgadvisory", "version": "1", "doc": doc, "topologies": []string{"postgres-pgbouncer", "postgres"}, "ends": "connection",
		"library": module + " " + lockstorm.Version(module), "versions": lockstorm.Fields{"pgx": lockstorm.Version(module)},
	}
}

func (a *adapter) Open(_ *lockstorm.Program, r lockstorm.Request) error {
	a.open = r
	return nil
}

// connect opens a connection in place of one that has broken. Through PgBouncer pgx needs a mode without prepared statements.
func (a *adapter) connect(ctx context.Context) error {
	if a.conn != nil && !a.conn.IsClosed() {
		return nil
	}
	cfg, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%d user=lockstorm dbname=postgres sslmode=disable", a.open.Nodes[0].Host, a.open.Nodes[0].Port))
	if err != nil {
		return err
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	ctx, cancel := context.WithTimeout(ctx, a.open.Timeout)
	defer cancel()
	a.conn, err = pgx.ConnectConfig(ctx, cfg)
	return err
}

func (a *adapter) Attempt(ctx context.Context, r lockstorm.Request) (lockstorm.Hold, lockstorm.Fields, error) {
	if err := a.connect(ctx); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err)
	}
	if a.transaction {
		if _, err := a.conn.Exec(ctx, "BEGIN"); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err)
		}
	}
	h := &hold{a: a, conn: a.conn, key: key(a.open.Run + "/" + r.Lock)}
	take := "SELECT pg_try_advisory_lock($1)"
	if a.transaction {
		take = "SELECT pg_try_advisory_xact_lock($1)"
	}
	sent := lockstorm.Now()
	ok, err := h.ask(ctx, take)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		if a.transaction {
			a.conn.Exec(ctx, "ROLLBACK") //nolint:errcheck // a connection that has broken is found by the next attempt
		}
		return nil, nil, lockstorm.ErrBusy
	}
	return h, lockstorm.Fields{"sent": sent}, nil
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
}

func (h *hold) ask(ctx context.Context, statement string) (ok bool, err error) {
	err = h.conn.QueryRow(ctx, statement, h.key).Scan(&ok)
	return ok, err
}

func (h *hold) Release() error {
	ctx := context.Background()
	if h.conn.IsClosed() {
		return errors.New("the connection to the server was lost")
	}
	if h.a.transaction {
		_, err := h.conn.Exec(ctx, "COMMIT")
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
