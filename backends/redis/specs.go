package redis

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// Specs are the Redis locks for the catalogue.
func Specs() []backends.Spec {
	specs := slices.Concat(singleSpecs(), sentinelSpecs(), redlockSpecs())
	for i := range specs {
		specs[i].Ends, specs[i].Keys = cmp.Or(specs[i].Ends, history.EndsLease), Keys
		if !specs[i].Voters {
			specs[i].Params, specs[i].With = append(specs[i].Params, retriesParam, waitParam), checkRetries
		}
		if specs[i].Ends == history.EndsLease && !specs[i].Renews {
			specs[i].Calls = calls(specs[i])
		}
	}
	return specs
}

// calls are what can be done with a lease beside giving it back: a Redlock is asked by nothing
// but its deadline.
func calls(s backends.Spec) []string {
	if s.Voters {
		return []string{backends.CallExtend}
	}
	return []string{backends.CallExtend, backends.CallAsk, backends.CallToken}
}

// withAOF adds to each topology the same with persistence.
func withAOF(names ...string) []string {
	var out []string
	for _, n := range names {
		out = append(out, n, n+AOF)
	}
	return out
}

// sentinelSpecs are the locks that follow the master that Sentinel names.
func sentinelSpecs() []backends.Spec {
	topologies := withAOF(Sentinel)
	return []backends.Spec{
		{
			Name: "redis-sentinel", Doc: "like redis-lua, but on the master that Redis Sentinel reports; replication is asynchronous, so a fail-over may lose the lock",
			Notes:      "The master acknowledges a grant before any replica has the key. So a fail-over may lose the lock. lockstorm can prove this loss only if the lease is still running when the fail-over ends. A fail-over takes about two seconds on this topology, so the default ttl is 3s. In a split brain (two servers act as master) the new master still has the key of the last holder. When the key of the last holder has expired, each of the two masters of a split brain can grant the lock. When a split brain ends, some clients (of the library go-redis) may have missed the switch to the new master. Clients that missed the switch keep using the old master until Sentinel makes the old master a replica.",
			Topologies: topologies, Open: opener(takePX(releaseLua)),
		},
		{
			Name: "redis-sentinel-wait", Doc: "like redis-sentinel, but with the command WAIT: a client keeps the lock only if a replica confirms the lock's key; if no replica confirms the key, the client deletes the key",
			Notes:      "WAIT confirms that one replica has the key, not that this replica will be promoted. Still, a confirmed lock survives a fail-over, because Sentinel promotes the replica with the highest offset (the replica that has received most of the master's data). If no replica confirms the key within a tenth of the ttl, the client deletes the key. While replication is cut, no client is granted the lock.",
			Topologies: topologies, Open: opener(takeWait),
		},
	}
}

// redlockSpecs are the locks on a majority of independent masters.
func redlockSpecs() []backends.Spec {
	topologies := withAOF(Five)
	return []backends.Spec{
		{
			Name: "redlock", Doc: "Redlock as published: SET NX PX on a majority of five masters; a grant is valid for the ttl, minus the duration of the acquire, minus a reserve for clock drift",
			Notes:      "Redlock is safe while a minority of the nodes is dead. Redlock is not safe against a pause of the client, clocks that jump, or nodes that restart empty. If only three of the five nodes granted the lock, and one of these three restarts empty, another client can get the lock. A clock jump makes the lock's key expire on one node. The number of clock jumps that a grant survives depends on the number of nodes that granted the lock. A grant by all five nodes survives two clock jumps, because three nodes still have the lock's key. A grant by four of the five nodes survives one clock jump. A grant by three of the five nodes survives no clock jump: after one jump three nodes do not have the lock's key, and this majority can grant the lock to another client. When five clients compete for the lock, some grants come from only three or four nodes. By default the fault `clock-jump` acts only after a grant by all five nodes. To choose another number of nodes, set the parameter `grant=` of `clock-jump`. If two nodes are dead or cut off, every grant comes from the other three nodes.",
			Topologies: topologies, Voters: true, Open: openRedlock(),
		},
		{
			Name: "redlock-watchdog", Doc: "like redlock, but with a watchdog that extends the lease every third of its time to live",
			Notes:      "redlock-watchdog has the same weaknesses as redlock. Each extension gives the lease a new deadline. The extension succeeds only if a majority of the nodes confirms it before this new deadline.",
			Topologies: topologies, Voters: true, Renews: true, Open: openRedlock(func(r *redlock) { r.renews = true }),
		},
		{
			Name: "redlock-delayed", Doc: "like redlock, but with delayed restarts: clients send no lock request to a node that started less than one ttl ago",
			Notes:      "Kleppmann and antirez describe the delayed restart: a restarted node must not take part for at least one ttl. In this backend the clients, not the nodes, implement the delayed restart. Before each request to a node, a client reads the uptime of the node (command INFO server) on the same connection. A node reports its uptime in whole seconds. So after the start of a node, the clients do not trust this node for one ttl and up to two seconds more. While the clients do not trust a node, no client asks this node for a new lock. Clients that hold a lock still send releases to a node that they do not trust. If a restarted node answers that the lock's key does not exist, the clients ignore the answer, because the node may have lost the key in the restart. At the start of a run all nodes have just started, so no client is granted the lock for one ttl and up to two seconds more. If the clock of a node jumps forward, the node seems to have started earlier than it did, so the clients may accept its answers too early.",
			Topologies: topologies, Voters: true, Open: openRedlock(func(r *redlock) { r.quarantine = true }),
			Recovery:   2 * time.Second, // uptimes come in whole seconds
			RealServer: "this lock reads the uptime of its Redis server, which lockstorm's embedded server does not report",
		},
	}
}

// singleSpecs are the locks on one server, or on the master that Sentinel names.
func singleSpecs() []backends.Spec {
	topologies := withAOF(Single, Replica, Sentinel)
	return []backends.Spec{
		{
			Name: "redis-setnx", Doc: "acquire by SETNX without a time to live; release by DEL: a dead holder blocks all clients forever",
			Notes:      "The key has no time to live: the lock lasts until its holder releases it.",
			Topologies: topologies, Ends: history.EndsNever, Open: opener(takeSetnx),
		},
		{
			Name: "redis-setnx-expire", Doc: "acquire by SETNX, then EXPIRE as a second command: a client that dies between the two commands blocks all other clients forever",
			Topologies: topologies, Open: opener(takeSetnxExpire),
			Points: []backends.Point{{Name: pointSetnxExpire, Doc: "the key is set, but has no time to live yet"}},
		},
		{
			Name: "redis-get-del", Doc: "acquire by SET NX PX; release by GET, comparison and DEL in three steps: the DEL may delete the lock of the next holder",
			Topologies: topologies, Open: opener(takePX(releaseGetDel)),
			Points: []backends.Point{{Name: pointGetDel, Doc: "GET has shown that the client still owns the key; the client has not deleted the key yet"}},
		},
		{
			Name: "redis-del", Doc: "acquire by SET NX PX; release by DEL without a check of the owner: a late release frees another client's lock",
			Topologies: topologies, Open: opener(takePX(releaseDel)),
		},
		{
			Name: "redis-lua", Doc: "acquire by SET NX PX; release by a compare-and-delete script in Lua: the lock that most services use",
			Topologies: topologies, Open: opener(takePX(releaseLua)),
		},
		{
			Name: "redis-watchdog", Doc: "like redis-lua, but with a watchdog that renews the lease every third of its time to live, and tells the client when the lock is lost",
			Notes:      "A pause of the client's process also pauses the watchdog. So the watchdog does not help against a pause of the client's process.",
			Topologies: topologies, Renews: true, Open: opener(takeWatchdog),
		},
		{
			Name: "redis-fenced", Doc: "like redis-lua, but the script that acquires the lock also takes a fencing token from a counter (INCR)",
			Notes:      "The acquire script takes the token from INCR. The counter of INCR is in the same memory as the lock. If the server loses its memory, it loses both the lock and the counter. After the server has lost its memory, the next tokens are equal to earlier tokens, or smaller. With `--workload counter:fence=at-least`, the fence also accepts a token that is equal to the newest token that the fence has seen. A fence that accepts equal tokens cannot detect that two clients have the same token.",
			Topologies: topologies, Tokens: true, Open: opener(takeFenced),
		},
	}
}
