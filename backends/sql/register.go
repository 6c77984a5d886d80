package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/backends"
)

// Registers returns the values in a table. The fenced one is read and written by statements that check the token
// themselves: a row keeps the highest one that it has seen.
func Registers() []backends.Register {
	of := func(e *engine, topologies ...string) backends.Register {
		return backends.Register{
			Name: e.register, Doc: "rows of " + e.name + "; each SQL statement on a fenced row contains the fencing token in its " +
				"condition, and the database refuses the statement if the row has already stored a higher token",
			Topologies: topologies,
			Open: func(_ context.Context, env backends.Env) (backends.Resource, error) {
				s, err := newSession(env)
				if err != nil {
					return nil, err
				}
				return &register{s}, nil
			},
		}
	}
	return []backends.Register{
		of(&postgres, Postgres, PostgresReplica, PostgresReplicaSync),
		of(&mariadb, MariaDB, MariaDBReplica, MariaDBReplicaSync),
	}
}

type register struct{ *session }

// Open needs no request.
func (r *register) Open(_ context.Context, lock, _ string, lease backends.Info) (backends.Access, error) {
	return &value{r: r, lock: lock, lease: lease}, nil
}

type value struct {
	r     *register
	lock  string
	lease backends.Info
}

// id is the row of one register of a lock.
func (v *value) id(name string) string { return v.r.id(v.lock) + "/" + name }

// token is what a request presents; none to a register without a fence.
func (v *value) token(name string) (int64, error) {
	switch {
	case name != backends.Fenced:
		return 0, nil
	case !v.lease.HasToken:
		return 0, fmt.Errorf("%w: the lock issues no fencing token", backends.ErrNotSent)
	}
	return v.lease.Token, nil
}

// Read shows the token, and then reads a row that has seen no higher one.
func (v *value) Read(ctx context.Context, name string) (n int64, err error) {
	conn, err := v.r.open(ctx)
	if err != nil {
		return 0, err
	}
	token, err := v.token(name)
	if err != nil {
		return 0, err
	}
	if err := v.r.make(ctx, conn, tableData, v.id(name)); err != nil {
		return 0, err
	}
	if name == backends.Fenced {
		if err := v.change(ctx, "UPDATE ls_data SET version = ?, changed = changed + 1 WHERE id = ? AND version <= ?", token,
			v.id(name), token); err != nil {
			return 0, err
		}
	}
	return n, stale(v.r.ask(ctx, conn, &n, "SELECT value FROM ls_data WHERE id = ? AND version <= ?", v.id(name), token))
}

// Write is one statement.
func (v *value) Write(ctx context.Context, name string, _, n int64) error {
	token, err := v.token(name)
	if err != nil {
		return err
	}
	return v.change(ctx, "UPDATE ls_data SET value = ?, version = ?, changed = changed + 1 WHERE id = ? AND version <= ?", n, token,
		v.id(name), token)
}

// stale is the answer of a row that has seen a higher token.
func stale(err error) error {
	if errors.Is(err, stdsql.ErrNoRows) {
		return fmt.Errorf("%w: the row already contains a higher token", backends.ErrStaleToken)
	}
	return err
}

func (v *value) change(ctx context.Context, text string, args ...any) error {
	conn, err := v.r.open(ctx)
	if err != nil {
		return err
	}
	n, err := v.r.changed(ctx, conn, text, args...)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: the row already contains a higher token", backends.ErrStaleToken)
	}
	return err
}
