package nats

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/sockets"
)

// Names of the topologies.
const (
	Single = "nats-single"
	Three  = "nats-three"
	Sync   = "-sync" // behind either: each write is synced
)

// Topologies returns the sets of NATS servers that the locks run on: the program nats-server or, as the server is a
// Go library, the same server in a child process of this program.
func Topologies() []cluster.Topology {
	ensemble := cluster.Topology{
		Name: Three, Doc: "three servers with JetStream; acknowledged when two have it; an election takes 4 to 10 s",
		Recovery: 12 * time.Second, FailOver: 10 * time.Second, TTL: 2 * time.Second,
		Fleet: cluster.Elected, Ready: cluster.Together(standing, serves), Unsynced: true,
		Nodes: []cluster.Recipe{node(1, 3), node(2, 3), node(3, 3)},
	}
	single := cluster.Topology{
		Name: Single, Doc: "one server with JetStream; data survives a restart",
		Nodes: []cluster.Recipe{node(1, 1)}, Recovery: 2 * time.Second, Unsynced: true,
	}
	return []cluster.Topology{single, ensemble, synced(single), synced(ensemble)}
}

// synced is a topology whose servers sync each write before they acknowledge it; the default is to sync every two minutes. The
// setting is younger than Debian's program.
func synced(t cluster.Topology) cluster.Topology {
	t.Name, t.Doc = t.Name+Sync, t.Doc+"; on disk (sync_interval: always)"
	t.Nodes, t.Unsynced = slices.Clone(t.Nodes), false
	for i := range t.Nodes {
		text := strings.Replace(t.Nodes[i].Fresh[configFile], "jetstream { ", "jetstream { sync_interval: always, ", 1)
		t.Nodes[i].Fresh, t.Nodes[i].Binary, t.Nodes[i].Package = map[string]string{configFile: text}, "", ""
	}
	return t
}

func nodeName(i int) string { return fmt.Sprintf("nats-%d", i) }

// configFile is read by the program and by the embedded server alike, of every release from 2.9 on.
const configFile = "nats.conf"

// routePort is where members call each other. The address that they know of each other is that of
// a link.
const routePort = "route"

// Users: who says nothing is the first; the second asks the servers themselves.
const (
	lockUser   = "lockstorm"
	systemUser = "system"
	password   = "lockstorm" // of servers on loopback that end with their run
)

// maxStore bounds what a server holds, in memory and on disk.
const maxStore = 64 << 20

// node is a server.
func node(i, of int) cluster.Recipe {
	r := cluster.Recipe{
		Name: nodeName(i), Data: true, Binary: "nats-server", Dirs: []string{"/usr/sbin"}, Package: "nats-server",
		Version:  []string{"--version"},
		Args:     []string{"--config", configFile},
		Requests: []string{"PUB", "HPUB"},
		Beside:   []string{companion.NATS, configFile},
	}
	lines := []string{
		"server_name: " + nodeName(i), "host: \"{{.Host}}\"", "port: {{.Port}}",
		fmt.Sprintf("jetstream { store_dir: jetstream, max_memory_store: %d, max_file_store: %d }", maxStore, maxStore),
		fmt.Sprintf("accounts { %s { jetstream: enabled, users: [{user: %q, password: %q}] }, %s { users: [{user: %q, password: "+
			"%q}] } }", lockAccount, lockUser, password, systemAccount, systemUser, password),
		"system_account: " + systemAccount, "no_auth_user: " + lockUser,
	}
	if of == 1 {
		r.Ready = serves
	} else {
		r.Role, r.Ready, r.Admin = history.RoleFollower, answers, newAdmin
		r.Ports = []cluster.Port{{Name: routePort, Peering: cluster.BySocket}}
		// With one thread for its goroutines the queue of a member's votes and answers cannot start before its account is known: else a
		// member of 2.10 sends none of them for good.
		r.Env = map[string]string{"GOMAXPROCS": "1"}
		var routes []string
		for n := 1; n <= of; n++ {
			if n != i {
				routes = append(routes, fmt.Sprintf("\"nats-route://{{.PeerHost}}:{{.PeerPort %q %q}}\"", nodeName(n), routePort))
			}
		}
		// Clients are not told of members that they were not given. Without a pool a pair of members has one connection, of every
		// release;
		// 2.9 knows no pool_size, and accepts it as a variable that is used: connect_retries below 0 are as many as 0, the default.
		lines = append(lines, fmt.Sprintf("cluster { name: lockstorm, host: \"{{.Host}}\", port: {{.PortNamed %q}}, advertise: "+
			"\"{{.PeerHost}}:{{.PeerPort %q %q}}\", no_advertise: true, pool_size: -1, connect_retries: $pool_size, routes: [%s] }",
			routePort, nodeName(i), routePort, strings.Join(routes, ", ")))
	}
	r.Fresh = map[string]string{configFile: strings.Join(lines, "\n") + "\n"}
	return r
}

// answers waits until the server's own process answers, with a leader or without.
func answers(ctx context.Context, addr string, pid int) error {
	if _, err := groupsOf(ctx, addr); err != nil {
		return err
	}
	return sockets.Own(pid, addr)
}

// serves waits until JetStream of the server's own process answers.
func serves(ctx context.Context, addr string, pid int) error {
	if err := ready(ctx, addr); err != nil {
		return err
	}
	return sockets.Own(pid, addr)
}
