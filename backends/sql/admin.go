package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// admin asks and tells a server past all links, as an operator would on its host. Every call has a
// connection of its own.
type admin struct {
	e    *engine
	addr func() string
}

// leader is the admin of a server that may have a replica, or be one.
type leader struct {
	admin
	r replication
}

func newAdmin(e *engine, r replication, addr func() string) any {
	if r == single {
		return admin{e, addr}
	}
	return leader{admin{e, addr}, r}
}

var (
	_ cluster.Timer           = admin{}
	_ cluster.Keeper          = admin{}
	_ cluster.Forgetter       = admin{}
	_ cluster.ConnectionEnder = admin{}
	_ cluster.Persister       = admin{}
	_ cluster.Roler           = leader{}
	_ cluster.Leader          = leader{}
	_ cluster.Promoter        = leader{}
)

// How long we wait for one answer; a promotion ends with a checkpoint.
const (
	adminTimeout   = time.Second
	promoteTimeout = 10 * time.Second
)

// with calls f with a connection to the server.
func (a admin) with(ctx context.Context, f func(ctx context.Context, c *stdsql.Conn) error) error {
	return a.within(ctx, adminTimeout, f)
}

func (a admin) within(ctx context.Context, limit time.Duration, f func(ctx context.Context, c *stdsql.Conn) error) error {
	db, err := probe(a.e, a.addr())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it was only asked
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // as above
	return f(ctx, c)
}

// number asks for one number.
func (a admin) number(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = a.with(ctx, func(ctx context.Context, c *stdsql.Conn) error {
		return c.QueryRowContext(ctx, a.e.text(text), args...).Scan(&n)
	})
	return n, err
}

// exec carries out a statement, and says how many rows it has changed.
func (a admin) exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = a.with(ctx, func(ctx context.Context, c *stdsql.Conn) error {
		r, err := c.ExecContext(ctx, a.e.text(text), args...)
		if err != nil {
			return err
		}
		n, err = r.RowsAffected()
		return err
	})
	return n, err
}

// Clock is the server's wall clock.
func (a admin) Clock(ctx context.Context) (time.Time, error) {
	us, err := a.number(ctx, "SELECT {now}")
	return time.UnixMicro(us), err
}

// Persist flushes the log.
func (a admin) Persist(ctx context.Context) error {
	text := "CHECKPOINT"
	if a.e == &mariadb {
		text = "FLUSH ENGINE LOGS"
	}
	return a.within(ctx, promoteTimeout, func(ctx context.Context, c *stdsql.Conn) error {
		_, err := c.ExecContext(ctx, text)
		return err
	})
}

// lockTables are those that stand for locks; the data is in others.
var lockTables = []string{tableLock, tableLease}

// EndConnection ends a connection by the name that the server has for it.
func (a admin) EndConnection(ctx context.Context, name string) error {
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return fmt.Errorf("connection %q: %w", name, err)
	}
	if a.e == &mariadb {
		_, err := a.exec(ctx, fmt.Sprintf("KILL CONNECTION %d", id))
		return err
	}
	n, err := a.number(ctx, "SELECT CASE WHEN pg_terminate_backend(?) THEN 1 ELSE 0 END", id)
	if err == nil && n == 0 {
		err = fmt.Errorf("the server has no connection with the id %d", id)
	}
	return err
}

// keyOf is the name of a row for faults of the store.
func keyOf(table, run, lock string) string { return table + ":" + rowID(run, lock) }

// Has says which rows exist; one of leases exists while it belongs to somebody.
func (a admin) Has(ctx context.Context, keys []string) (found []string, err error) {
	for _, key := range keys {
		table, id, _ := strings.Cut(key, ":")
		n, err := a.number(ctx, "SELECT COUNT(*) FROM "+table+" WHERE id = ? AND owner <> ''", id)
		if err != nil {
			return found, err
		}
		if n > 0 {
			found = append(found, key)
		}
	}
	return found, nil
}

// Delete deletes rows; one of leases is free then, and its tokens go on.
func (a admin) Delete(ctx context.Context, keys []string) (n int64, err error) {
	for _, key := range keys {
		table, id, _ := strings.Cut(key, ":")
		deleted, err := a.exec(ctx, free(table)+" AND id = ?", id)
		if err != nil {
			return n, err
		}
		n += deleted
	}
	return n, nil
}

// free is the statement that frees all locks of a table.
func free(table string) string {
	if table == tableLease {
		return "UPDATE " + tableLease + " SET owner = '', expires = 0 WHERE owner <> ''"
	}
	return "DELETE FROM " + table + " WHERE owner <> ''"
}

// Flush frees every lock; data that is kept beside them stays.
func (a admin) Flush(ctx context.Context) (n int64, err error) {
	for _, table := range lockTables {
		if there, err := a.there(ctx, table); err != nil || !there {
			if err != nil {
				return n, err
			}
			continue
		}
		freed, err := a.exec(ctx, free(table))
		if err != nil {
			return n, err
		}
		n += freed
	}
	return n, nil
}

// there reports whether a table is: clients make them.
func (a admin) there(ctx context.Context, table string) (bool, error) {
	n, err := a.number(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = ? AND table_schema = {schema}", table)
	return n > 0, err
}

// Role is what the server says of itself.
func (l leader) Role(ctx context.Context) (string, error) {
	n, err := l.number(ctx, l.e.leads)
	switch {
	case err != nil:
		return "", err
	case n == 1:
		return history.RoleMaster, nil
	}
	return history.RoleReplica, nil
}

// Followers counts the replicas that are connected.
func (l leader) Followers(ctx context.Context) (int, error) {
	n, err := l.number(ctx, "{followers}")
	return int(n), err
}

// InSync reports whether the replicas have all that the master has.
func (l leader) InSync(ctx context.Context, followers int) (bool, string, error) {
	n, err := l.Followers(ctx)
	if err != nil || n < followers {
		return false, fmt.Sprintf("%d of %d replicas are connected", n, followers), err
	}
	synced, err := l.number(ctx, "{in sync}")
	return int(synced) >= followers, fmt.Sprintf(l.e.synced, synced, followers), err
}

// Promote ends following and takes writes.
func (l leader) Promote(ctx context.Context) error {
	if l.e == &postgres {
		return l.promotePostgres(ctx)
	}
	if err := l.drained(ctx); err != nil {
		return err
	}
	for _, text := range []string{
		"STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL rpl_semi_sync_slave_enabled = 0",
		"SET GLOBAL read_only = 0",
	} {
		if _, err := l.exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

func (l leader) promotePostgres(ctx context.Context) error {
	return l.within(ctx, promoteTimeout, func(ctx context.Context, c *stdsql.Conn) error {
		var done bool
		if err := c.QueryRowContext(ctx, "SELECT pg_promote(true, 10)").Scan(&done); err != nil {
			return err
		}
		if !done {
			return errors.New("PostgreSQL has not promoted the server within 10 s: the server is still a standby")
		}
		return nil
	})
}

// Secure has a synchronous server wait for its follower.
func (l leader) Secure(ctx context.Context) error {
	statements := []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"}
	if l.e == &mariadb {
		statements = []string{"SET GLOBAL rpl_semi_sync_master_timeout = 3600000", "SET GLOBAL rpl_semi_sync_master_wait_point = " +
			"'AFTER_SYNC'", "SET GLOBAL rpl_semi_sync_master_enabled = 1"}
	}
	if l.r != synchronous {
		return nil
	}
	for _, text := range statements {
		if _, err := l.exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// drained waits until a replica has applied all that it has received.
func (l leader) drained(ctx context.Context) error {
	for {
		var waits int64
		waits, err := l.number(ctx, "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Slave has read all "+
			"relay log%'")
		if err == nil && waits > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("the replica has not applied everything that it has received"), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
