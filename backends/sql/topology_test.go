package sql

import (
	"testing"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// Each database starts, and keeps what it has over a kill.
func TestSingle(t *testing.T) {
	for _, name := range []string{Postgres, MariaDB} {
		t.Run(name, func(t *testing.T) {
			b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), name))
			a := func(addr string) admin {
				e, err := engineOf(name + "-1")
				if err != nil {
					t.Fatal(err)
				}
				return admin{e, func() string { return addr }}
			}
			b.Keeps(func(addr string) error {
				for _, text := range []string{"CREATE TABLE IF NOT EXISTS kept (id BIGINT)", "INSERT INTO kept VALUES (7)"} {
					b.Await(text, func() bool { // a busy host can take longer than an admin waits
						_, err := a(addr).exec(b.Ctx, text)
						return err == nil
					})
				}
				return nil
			}, func(addr string) (bool, error) {
				var n int64
				b.Await("the row", func() bool {
					var err error
					n, err = a(addr).number(b.Ctx, "SELECT id FROM kept")
					return err == nil
				})
				return n == 7, nil
			})
		})
	}
}

// The pool serves when its database does, which it reaches by its link.
func TestBouncer(t *testing.T) {
	b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), PostgresBouncer))
	servers := b.Cluster.Servers()
	pool, db := servers[0], servers[1]
	if pool.Name() != bouncerNode || pool.Role() != RoleProxy || db.Role() != history.RoleMaster {
		t.Fatalf("%s is %s, %s is %s", pool.Name(), pool.Role(), db.Name(), db.Role())
	}
	asks := func() error {
		conn, err := probe(&postgres, pool.Addr())
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // it was only asked
		_, err = conn.ExecContext(b.Ctx, "SELECT 1")
		return err
	}
	if err := asks(); err != nil {
		t.Fatal(err)
	}
	b.NothingBeside("while the pool has a connection")
}

// A replica that is promoted has what was written, and takes writes; the old master comes back with
// nothing of its own, follows, and catches up.
func TestReplicas(t *testing.T) {
	for _, name := range []string{PostgresReplica, PostgresReplicaSync, MariaDBReplica, MariaDBReplicaSync} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), name))
			servers := b.Cluster.Servers()
			old, heir := servers[0], servers[1]
			roles := func(want ...string) {
				t.Helper()
				for i, s := range servers {
					b.Await(s.Name()+" is "+want[i], func() bool { return s.Role() == want[i] })
				}
			}
			rows := func(s *cluster.Server) int64 {
				n, err := s.Admin().(leader).number(b.Ctx, "SELECT COUNT(*) FROM kept")
				if err != nil {
					return -1
				}
				return n
			}
			roles(history.RoleMaster, history.RoleReplica)
			b.Await("a table", func() bool { // a server that was just started answers late on a busy host
				_, err := old.Admin().(leader).exec(b.Ctx, "CREATE TABLE IF NOT EXISTS kept (id BIGINT PRIMARY KEY)")
				return err == nil
			})
			b.Await("a row on the master", func() bool {
				_, err := old.Admin().(leader).exec(b.Ctx, "INSERT INTO kept VALUES (1)")
				return err == nil || rows(old) == 1
			})
			b.Await("the row on the replica", func() bool { return rows(heir) == 1 })
			if err := old.Kill(b.Ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := heir.Promote(b.Ctx); err != nil {
				t.Fatal(err)
			}
			roles(history.RoleDown, history.RoleMaster)
			b.Await("a row on the new master", func() bool { // where the answer comes late, the row is there the next time
				_, err := heir.Admin().(leader).exec(b.Ctx, "INSERT INTO kept VALUES (2)")
				return err == nil || rows(heir) == 2
			})
			if _, err := old.Rejoin(b.Ctx); err != nil {
				t.Fatal(err)
			}
			b.Await("all rows on the one that was killed", func() bool { return rows(old) == 2 })
			roles(history.RoleReplica, history.RoleMaster)
			b.Await("a follower", func() bool {
				ok, _, err := heir.Admin().(leader).InSync(b.Ctx, 1)
				return err == nil && ok
			})
		})
	}
}
