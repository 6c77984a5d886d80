package sql

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
)

// PostgresBouncer is the topology of a database behind a pool of connections.
const PostgresBouncer = "postgres-pgbouncer"

// RoleProxy is the role of a server that holds no data and forwards requests.
const RoleProxy = "proxy"

// bouncerNode is the one that clients are given first.
const bouncerNode = "pgbouncer-1"

// behindBouncer is a PostgreSQL server whose connections are lent to clients for a transaction each.
func behindBouncer() cluster.Topology {
	db := postgresNode(1, single)
	db.Peering, db.Hidden = cluster.Pairwise, true
	return cluster.Topology{
		Name: PostgresBouncer, Doc: "a server behind PgBouncer in transaction mode: a connection for one transaction at a time",
		// PgBouncer tries again 15 s after a server refused it
		Nodes: []cluster.Recipe{bouncer(db.Name), db}, Recovery: 20 * time.Second,
	}
}

// bouncer starts when the database serves. Its settings are the program's own, but for where it listens, the mode, and whom it
// lets in.
func bouncer(db string) cluster.Recipe {
	return cluster.Recipe{
		Name: bouncerNode, Role: RoleProxy, Stage: 1, Contained: true,
		Binary: "pgbouncer", Package: "pgbouncer", Version: []string{"--version"}, Dirs: []string{"/usr/sbin"},
		Args: []string{"pgbouncer.ini"},
		Fresh: map[string]string{"pgbouncer.ini": "[databases]\n" +
			postgresDB + " = host={{.PeerHost}} port={{.PortOf \"" + db + "\"}} user=" + postgresUser + "\n" +
			"[pgbouncer]\nlisten_addr = {{.Host}}\nlisten_port = {{.Port}}\nunix_socket_dir =\nauth_type = any\npool_mode = " +
			"transaction\n"},
		Refusal: postgresRefusal,
		Ready:   func(ctx context.Context, addr string, pid int) error { return serves(ctx, &postgres, addr, pid) },
	}
}
