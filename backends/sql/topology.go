package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/sockets"
)

// Names of the topologies.
const (
	Postgres            = "postgres"
	PostgresReplica     = "postgres-replica"
	PostgresReplicaSync = "postgres-replica-sync"
	MariaDB             = "mariadb"
	MariaDBReplica      = "mariadb-replica"
	MariaDBReplicaSync  = "mariadb-replica-sync"

	PostgresAsync       = "postgres-async"
	PostgresRemoteWrite = "postgres-replica-remote-write"
	MariaDBFlush0       = "mariadb-flush0"
	MariaDBFlush2       = "mariadb-flush2"
)

// Topologies returns the sets of databases that the locks run on. All of them keep what they have acknowledged over a
// kill.
func Topologies() []cluster.Topology {
	const (
		async = "; asynchronous; lockstorm promotes the replica"
		sync  = "; acknowledged when the replica has it; lockstorm promotes the replica"
	)
	one := func(name, doc string, n cluster.Recipe) cluster.Topology {
		doc = "one server; acknowledged " + doc
		return cluster.Topology{Name: name, Doc: doc, Nodes: []cluster.Recipe{n}, Recovery: 2 * time.Second}
	}
	return []cluster.Topology{
		one(Postgres, "when on disk", postgresNode(1, single)),
		one(MariaDB, "when on disk", mariadbNode(1, single)),
		unsynced(one(PostgresAsync, "before it is on disk (synchronous_commit=off)", postgresNode(1, single)),
			"-c", "synchronous_commit=off"),
		unsynced(one(MariaDBFlush0, "before it is written (innodb_flush_log_at_trx_commit=0)", mariadbNode(1, single)),
			"--innodb-flush-log-at-trx-commit=0"),
		unsynced(one(MariaDBFlush2, "when written, on disk within a second (innodb_flush_log_at_trx_commit=2)", mariadbNode(1, single)),
			"--innodb-flush-log-at-trx-commit=2"),
		behindBouncer(),
		replicated(PostgresReplica, "a server and its hot standby"+async, postgresNode, asynchronous),
		replicated(PostgresReplicaSync, "a server and its hot standby"+sync, postgresNode, synchronous),
		unsynced(replicated(PostgresRemoteWrite, "a server and its hot standby; acknowledged when the standby has written it "+
			"(synchronous_commit=remote_write); lockstorm promotes the replica", postgresNode, synchronous),
			"-c", "synchronous_commit=remote_write"),
		replicated(MariaDBReplica, "a server and its replica"+async, mariadbNode, asynchronous),
		replicated(MariaDBReplicaSync, "a server and its replica"+sync, mariadbNode, synchronous),
	}
}

// unsynced gives the servers of a topology arguments by which they acknowledge what is not on disk yet.
func unsynced(t cluster.Topology, args ...string) cluster.Topology {
	t.Unsynced = true
	for i := range t.Nodes {
		t.Nodes[i].Args = append(t.Nodes[i].Args, args...)
	}
	return t
}

// replication is what a server has others have before it acknowledges.
type replication int

const (
	single replication = iota
	asynchronous
	synchronous
)

func replicated(name, doc string, node func(int, replication) cluster.Recipe, r replication) cluster.Topology {
	return cluster.Topology{
		Name: name, Doc: doc, Nodes: []cluster.Recipe{node(1, r), node(2, r)}, TTL: 2 * time.Second,
		Recovery: 5 * time.Second, // a master that was replaced is made anew from the template, and catches up
		Ready:    following,
	}
}

// serverNode is what the nodes of both engines share.
func serverNode(e *engine, i int, r replication) cluster.Recipe {
	n := cluster.Recipe{
		Name: fmt.Sprintf("%s-%d", e.name, i), Role: history.RoleMaster, Data: true, Contained: true,
		Admin: func(addr func() string) any { return newAdmin(e, r, addr) },
		Ready: func(ctx context.Context, addr string, pid int) error { return serves(ctx, e, addr, pid) },
	}
	if r != single {
		n.Peering = cluster.Pairwise
		if i > 1 {
			n.Role, n.Stage = history.RoleReplica, 1
		}
	}
	return n
}

// peerOf is the other one of two.
func peerOf(e *engine, i int) string { return fmt.Sprintf("%s-%d", e.name, 3-i) }

// postgresNode has as little memory as it can, and all of it in its folder: segments in /dev/shm would outlive a
// server that was killed. The WAL of a run is kept, so that a follower that is
// made anew can read it from the beginning.
func postgresNode(i int, r replication) cluster.Recipe {
	n := serverNode(&postgres, i, r)
	n.Refusal, n.Requests = postgresRefusal, []string{"BEGIN", "COMMIT", "ROLLBACK"}
	n.Binary, n.Package, n.Version, n.Image = "postgres", "postgresql", []string{"--version"}, "postgres"
	n.Dirs = []string{"/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin"}
	// initdb takes no setting for its servers' segments
	n.Template = &cluster.Template{Dir: "data", Segments: true, Make: [][]string{
		{"initdb", "-D", "{{.Dir}}/data", "-U", postgresUser, "--auth=trust", "--no-sync", "--locale=C", "-E", "UTF8"},
	}}
	// With an address of its own, who calls it comes from another one.
	const callers = "{{if .OwnAddress}}samenet{{else}}127.0.0.1/32{{end}} trust\n"
	n.Files = map[string]string{"hba.conf": "host all all " + callers + "host replication all " + callers}
	settings := []string{
		"hba_file=hba.conf", "unix_socket_directories=", "dynamic_shared_memory_type=mmap", "shared_buffers=8MB", "max_connections=300",
		"autovacuum=off", "jit=off",
	}
	if r == single {
		settings = append(settings, "max_wal_senders=0", "wal_level=minimal", "max_worker_processes=0")
	} else {
		settings = append(settings, "wal_level=replica", "wal_keep_size=1GB", "wal_retrieve_retry_interval=100ms",
			"wal_sender_timeout=2s", "wal_receiver_timeout=2s",
			fmt.Sprintf("primary_conninfo=host={{.PeerHost}} port={{.PortOf %q}} user=%s application_name=%s connect_timeout=2",
				peerOf(&postgres, i), postgresUser, n.Name))
		n.Prepare = [][]string{{"sh", "-c", "{{if .Follows}}touch data/standby.signal{{end}}"}}
	}
	if r == synchronous { // in a file, so that it can be changed
		n.Prepare = append(n.Prepare, []string{"sh", "-c", "{{if not .Follows}}echo \"synchronous_standby_names = '*'\" " +
			">>data/postgresql.conf{{end}}"})
	}
	n.Args = []string{"-D", "data", "-h", "{{.Host}}", "-p", "{{.Port}}"}
	for _, s := range settings {
		n.Args = append(n.Args, "-c", s)
	}
	return n
}

// mariadbNode has as little memory as it can. Its socket has a short name: paths of sockets are
// limited. Temporary tables are called after the process, which in a namespace of its own has the number
// of every other one: each server needs a directory of its own for them.
func mariadbNode(i int, r replication) cluster.Recipe {
	n := serverNode(&mariadb, i, r)
	n.Refusal, n.Requests = mariadbRefusal, []string{"COMMIT", "SELECT", "UPDATE", "INSERT", "DELETE"}
	n.Binary, n.Package, n.Version, n.Image = "mariadbd", "mariadb-server", []string{"--version"}, "mariadb"
	n.Dirs = []string{"/usr/sbin", "/usr/local/mysql/bin"}
	n.Template = &cluster.Template{Dir: "data", Make: [][]string{
		{
			"mariadb-install-db", "--no-defaults", "--datadir={{.Dir}}/data", "--auth-root-authentication-method=normal", "--skip-test-db",
			"--innodb-log-file-size=4M",
		},
		{"mkdir", "{{.Dir}}/data/" + mariadbDB},
	}}
	defaults := "--no-defaults"
	if r != single {
		// A server that is made anew is another one: it must not take what it wrote before for its own.
		n.Prepare = [][]string{{"sh", "-c", `printf '[mariadbd]\nserver-id=%d\n' $(($(date +%s%N) % 2147483647 + 1)) >own.cnf`}}
		defaults = "--defaults-file={{.Dir}}/own.cnf"
	}
	n.Args = []string{
		defaults, "--datadir={{.Dir}}/data", "--bind-address={{.Host}}", "--port={{.Port}}", "--socket=s", "--pid-file=pid",
		"--tmpdir={{.Dir}}", "--skip-name-resolve",
		"--performance-schema=0", "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M", "--innodb-log-buffer-size=2M",
		"--key-buffer-size=8K",
		"--max-connections=300", "--init-file={{.Dir}}/role.sql",
	}
	// With an address of its own, who calls it comes from another one.
	callers := fmt.Sprintf("{{if .OwnAddress}}SET sql_log_bin=0;\nCREATE USER IF NOT EXISTS '%[1]s'@'%%';\nGRANT ALL ON *.* TO "+
		"'%[1]s'@'%%' WITH GRANT OPTION;\nSET sql_log_bin=1;\n{{end}}", mariadbUser)
	if r == single {
		n.Args = append(n.Args, "--skip-log-bin")
		n.Fresh = map[string]string{"role.sql": callers}
		return n
	}
	n.Args = append(n.Args, "--log-bin=bin", "--log-slave-updates", "--slave-net-timeout=2")
	role := fmt.Sprintf("{{if .Follows}}CHANGE MASTER TO MASTER_HOST='{{.PeerHost}}', MASTER_PORT={{.PortOf %q}}, "+
		"MASTER_USER='%s', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=0.5;\nSTART SLAVE;\nSET GLOBAL "+
		"read_only=1;\n{{end}}",
		peerOf(&mariadb, i), mariadbUser)
	if r == synchronous {
		role = "{{if .Follows}}SET GLOBAL rpl_semi_sync_slave_enabled=1;\n{{else}}SET GLOBAL " +
			"rpl_semi_sync_master_timeout=3600000;\nSET GLOBAL rpl_semi_sync_master_wait_point='AFTER_SYNC';\nSET GLOBAL " +
			"rpl_semi_sync_master_enabled=1;\n{{end}}" + role
	}
	n.Fresh = map[string]string{"role.sql": callers + role}
	return n
}

// probe is a database that is asked past all links, on a connection of its own.
func probe(e *engine, addr string) (*stdsql.DB, error) {
	env := backends.Env{Client: "lockstorm-admin", Dial: func(ctx context.Context, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}}
	return e.open(env, "server")
}

// serves waits until the server's own process takes statements: while it recovers it answers, and
// refuses.
func serves(ctx context.Context, e *engine, addr string, pid int) error {
	db, err := probe(e, addr)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it was only asked
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	if _, err := db.ExecContext(ctx, "SELECT 1"); err != nil {
		return err
	}
	return sockets.Own(pid, addr)
}

// following waits until the replica has all that the master has.
func following(ctx context.Context, addrs map[string]string) error {
	for name, addr := range addrs {
		if !strings.HasSuffix(name, "-1") {
			continue
		}
		e, err := engineOf(name)
		if err != nil {
			return err
		}
		ok, text, err := newAdmin(e, asynchronous, func() string { return addr }).(leader).InSync(ctx, len(addrs)-1)
		if err != nil {
			return err
		}
		if !ok {
			return errors.New(text)
		}
	}
	return nil
}
