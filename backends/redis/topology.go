package redis

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// RoleSentinel is the role of a server that holds no data, watches masters and replaces them.
const RoleSentinel = "sentinel"

// Names of the topologies; each also exists with AOF behind it, and those without replicas with EverySec.
const (
	Single   = "redis-single"
	Replica  = "redis-replica"
	Sentinel = "redis-sentinel"
	Five     = "redis-five"
	AOF      = "-aof"
	EverySec = "-everysec"
)

// Topologies returns the sets of Redis servers that the locks run on.
func Topologies() []cluster.Topology {
	var out []cluster.Topology
	for _, make := range []func(persistence) cluster.Topology{single, replica, sentinel, five} {
		for _, p := range []persistence{persistNothing, persistAlways, persistEverySec} {
			t := make(p)
			if p.suffix == EverySec && t.Peers() {
				continue
			}
			t.Name, t.Doc, t.Volatile, t.Unsynced = t.Name+p.suffix, t.Doc+p.doc, p.suffix == "", p.suffix == EverySec
			out = append(out, t)
		}
	}
	return out
}

// persistence is what a server keeps over a kill.
type persistence struct {
	suffix, doc, config string
}

var (
	persistNothing = persistence{
		doc: "; a restart loses every lock", config: "save \"\"\nappendonly no\n",
	}
	// No automatic rewrite: it would fork a child that does not die with the server.
	persistAlways = persistence{
		suffix: AOF, doc: "; on disk (appendfsync always)",
		config: "save \"\"\nappendonly yes\nappendfsync always\nauto-aof-rewrite-percentage 0\n",
	}
	persistEverySec = persistence{
		suffix: EverySec, doc: "; written at once, on disk within a second (appendfsync everysec, the default with AOF)",
		config: strings.Replace(persistAlways.config, "always", "everysec", 1),
	}
)

func single(p persistence) cluster.Topology {
	return cluster.Topology{
		Name: Single, Doc: "one Redis server",
		Nodes: []cluster.Recipe{master("redis-1", p)}, Recovery: time.Second,
	}
}

func five(p persistence) cluster.Topology {
	t := cluster.Topology{Name: Five, Doc: "five independent masters, for Redlock", Recovery: time.Second}
	for i := range 5 {
		t.Nodes = append(t.Nodes, master(nodeName(i), p))
	}
	return t
}

func replica(p persistence) cluster.Topology {
	return cluster.Topology{
		Name: Replica, Doc: "a master and an asynchronous replica, without fail-over",
		Nodes: replicated(p, 2), Recovery: 2 * time.Second, Ready: replicasReady(2),
	}
}

const (
	sentinels = 3
	quorum    = 2
	// MasterName is the name under which Sentinel knows the set.
	MasterName = "lockstorm"
)

// sentinel takes its time-outs some tenths of what people use in production, so that a
// fail-over takes two seconds and not ten.
func sentinel(p persistence) cluster.Topology {
	t := cluster.Topology{
		Name: Sentinel, Doc: "a master, two replicas and three Sentinels, which replace a master after 500 to 800 ms without an answer",
		Nodes: replicated(p, 3), Fleet: cluster.Supervised,
		Recovery: 10 * time.Second, // a master that comes back is made a replica after 2 s, before Redis 7 after 8 s
		FailOver: 2 * time.Second, TTL: 3 * time.Second,
		Ready: sentinelReady,
	}
	for i := range sentinels {
		t.Nodes = append(t.Nodes, sentinelNode(i, 3))
	}
	return t
}

func nodeName(i int) string     { return fmt.Sprintf("redis-%d", i+1) }
func sentinelName(i int) string { return fmt.Sprintf("sentinel-%d", i+1) }

// The server runs in its own folder: no path needs to be quoted. With an address of its own it
// takes callers from others, without a password.
const baseConfig = "dir ./\ndaemonize no\nprotected-mode {{if .OwnAddress}}no{{else}}yes{{end}}\n"

func node(name, config string, args ...string) cluster.Recipe {
	return cluster.Recipe{
		Name: name, Binary: "redis-server", Package: "redis-server", Version: []string{"--version"}, Image: "redis",
		// The port is no part of the file: the server may come back on another.
		Args:  append([]string{"redis.conf", "--bind", "{{.Host}}", "--port", "{{.Port}}"}, args...),
		Files: map[string]string{"redis.conf": baseConfig + config},
		Ready: ready, Refusal: refusal, Requests: []string{"SET", "EVALSHA", "DEL", "GET", "PEXPIRE"}, Login: login, Hint: hint,
	}
}

// hint tells of the one setting that old servers do not know.
func hint(said string) string {
	if strings.Contains(said, "bind-source-addr") {
		return "Redis before version 7 cannot set the source address of its connections to other servers: use --provider container " +
			"--network bridge, which gives each server an address of its own"
	}
	return ""
}

func master(name string, p persistence) cluster.Recipe {
	r := node(name, p.config)
	r.Role = history.RoleMaster
	return withData(r)
}

// withData makes a recipe that of a server that holds data.
func withData(r cluster.Recipe) cluster.Recipe {
	r.Data, r.Admin, r.Policies = true, storeAdmin, policies
	return r
}

// replicated is a master and its replicas, which know each other by announced addresses
// and call each other from addresses of their own.
func replicated(p persistence, n int) []cluster.Recipe {
	var nodes []cluster.Recipe
	for i := range n {
		config := p.config + announce("replica-", nodeName(i)) +
			"repl-diskless-sync yes\nrepl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n"
		r := node(nodeName(i), config)
		r.Role, r.Peering = history.RoleMaster, cluster.Announced
		if i > 0 {
			r.Files["redis.conf"] += fmt.Sprintf("replicaof {{.PeerHost}} {{.PortOf %q}}\n", nodeName(0))
			r.Role, r.Stage = history.RoleReplica, 1
		}
		nodes = append(nodes, withData(r))
	}
	return nodes
}

func announce(prefix, name string) string {
	return fmt.Sprintf("{{if not .OwnAddress}}bind-source-addr {{.Source}}\n{{end}}%[1]sannounce-ip "+
		"{{.PeerHost}}\n%[1]sannounce-port {{.PortOf %[2]q}}\n", prefix, name)
}

// sentinelNode announces all others at once: a Sentinel alone finds out about the replicas only after ten seconds.
func sentinelNode(index, nodes int) cluster.Recipe {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "sentinel "+format+"\n", args...) }
	b.WriteString(announce("sentinel ", sentinelName(index)))
	line("myid %s", sentinelID(index))
	line("monitor %s {{.PeerHost}} {{.PortOf %q}} %d", MasterName, nodeName(0), quorum)
	line("down-after-milliseconds %s {{if .Awaited}}%d{{else}}%d{{end}}", MasterName, downAfterAtStart, downAfter(index))
	// Longer than the second that may pass until INFO says that the promoted one is master.
	line("failover-timeout %s 1500", MasterName)
	line("parallel-syncs %s %d", MasterName, nodes)
	for i := 1; i < nodes; i++ {
		line("known-replica %s {{.PeerHost}} {{.PortOf %q}}", MasterName, nodeName(i))
	}
	for i := range sentinels {
		if i != index {
			line("known-sentinel %s {{.PeerHost}} {{.PortOf %q}} %s", MasterName, sentinelName(i), sentinelID(i))
		}
	}
	r := node(sentinelName(index), b.String(), "--sentinel")
	r.Role, r.Stage, r.Admin, r.Ready, r.Peering = RoleSentinel, 2, sentinelAdmin, sentinelServes, cluster.Announced
	return r
}

// downAfter is how many milliseconds of silence a Sentinel takes for a server's death. Not the same
// for all: they would all stand for leader at once, and none would be elected.
func downAfter(index int) int { return 500 + 150*index }

// downAfterAtStart is so long that no Sentinel replaces the master while the set still comes
// together: on a busy host a server may stand still for longer than downAfter. See letGo.
const downAfterAtStart = 60_000

// sentinelID is the identity of a Sentinel: 40 hexadecimal digits.
func sentinelID(i int) string { return fmt.Sprintf("%x%032d", "lock", i+1) }
