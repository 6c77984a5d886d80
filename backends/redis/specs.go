package redis

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// Specs returns the Redis locks.
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

// WithDisks adds to each topology the same with persistence.
func WithDisks(names ...string) []string {
	var out []string
	for _, n := range names {
		if out = append(out, n); n == Single || n == Five {
			out = append(out, n+EverySec)
		}
		out = append(out, n+AOF)
	}
	return out
}

// sentinelSpecs are the locks that follow the master that Sentinel names.
func sentinelSpecs() []backends.Spec {
	topologies := WithDisks(Sentinel)
	return []backends.Spec{
		{
			Name: "redis-sentinel", Doc: "redis-lua on the master that Sentinel names; replication is asynchronous, so a fail-over may " +
				"lose the lock",
			Notes: "The loss can only be proven if the lease still runs when the fail-over (about 2 s) ends: hence the default ttl " +
				"of 3s. In a split brain both masters can grant once the last holder's key has expired. Some go-redis clients miss the " +
				"switch and use the old master until Sentinel makes it a replica.",
			Topologies: topologies, Open: opener(takePX(releaseLua)),
		},
		{
			Name: "redis-sentinel-wait", Doc: "redis-sentinel with WAIT: a client keeps the lock only if a replica confirms the key, " +
				"else it deletes it",
			Notes: "WAIT doesn't say that this replica will be promoted; a confirmed lock survives because Sentinel promotes the " +
				"one with the highest offset. It waits a tenth of the ttl; while replication is cut, nobody is granted the lock.",
			Topologies: topologies, Open: opener(takeWait),
		},
	}
}

// redlockSpecs are the locks on a majority of independent masters.
func redlockSpecs() []backends.Spec {
	topologies := WithDisks(Five)
	return []backends.Spec{
		{
			Name: "redlock", Doc: "Redlock as published: SET NX PX on a majority of five masters; valid for the ttl less the time to " +
				"acquire and a reserve for clock drift",
			Notes: "Safe while a minority of nodes is dead, not against pauses of clients, clock jumps or nodes that restart " +
				"empty. A grant by all five nodes survives two clock jumps, by four one, by three none; with five competing clients some " +
				"come from three or four, and from three whenever two nodes are away. `clock-jump` acts only after a grant by all five; " +
				"`grant=` changes that. Of three granting nodes one that restarts empty is enough for a second grant.",
			Topologies: topologies, Voters: true, Open: openRedlock(),
		},
		{
			Name: "redlock-watchdog", Doc: "redlock with a watchdog that extends every third of the ttl",
			Notes:      "Weak where redlock is. An extension counts only if a majority confirms it before the new deadline.",
			Topologies: topologies, Voters: true, Renews: true, Open: openRedlock(func(r *redlock) { r.renews = true }),
		},
		{
			Name: "redlock-delayed", Doc: "redlock with delayed restarts: no request for a lock to a node that started less than one " +
				"ttl ago",
			Notes: "Clients, not nodes, implement the delay: they read the uptime (INFO server, whole seconds) before each " +
				"request, and mistrust a node for one ttl and up to two seconds more. It isn't asked for locks, but is sent releases; if " +
				"it says that the key doesn't exist, that is ignored. All nodes have just started when a run begins, so nobody is granted " +
				"the lock for as long. A clock that jumps forward makes a node look older.",
			Topologies: topologies, Voters: true, Open: openRedlock(func(r *redlock) { r.quarantine = true }),
			Recovery:   2 * time.Second, // uptimes come in whole seconds
			RealServer: "this lock reads the uptime of its Redis server, which lockstorm's embedded server does not report",
		},
	}
}

// singleSpecs are the locks on one server, or on the master that Sentinel names.
func singleSpecs() []backends.Spec {
	topologies := WithDisks(Single, Replica, Sentinel)
	return []backends.Spec{
		{
			Name: "redis-setnx", Doc: "SETNX without a time to live, DEL: a dead holder blocks everyone for ever",
			Topologies: topologies, Ends: history.EndsNever, Open: opener(takeSetnx),
		},
		{
			Name: "redis-setnx-expire", Doc: "SETNX, then EXPIRE as a second command: a client that dies in between blocks everyone " +
				"for ever",
			Topologies: topologies, Open: opener(takeSetnxExpire),
			Points: []backends.Point{{Name: pointSetnxExpire, Doc: "the key has no time to live yet"}},
		},
		{
			Name: "redis-get-del", Doc: "SET NX PX; release by GET, comparison and DEL: the DEL may delete the next holder's lock",
			Topologies: topologies, Open: opener(takePX(releaseGetDel)),
			Points: []backends.Point{{Name: pointGetDel, Doc: "the client knows that the key is its own, and hasn't deleted it yet"}},
		},
		{
			Name: "redis-del", Doc: "SET NX PX; release by DEL without a check of the owner: a late release frees another's lock",
			Topologies: topologies, Open: opener(takePX(releaseDel)),
		},
		{
			Name: "redis-lua", Doc: "SET NX PX; release by a compare-and-delete script in Lua: what most services use",
			Topologies: topologies, Open: opener(takePX(releaseLua)),
		},
		{
			Name: "redis-watchdog", Doc: "redis-lua with a watchdog that renews every third of the ttl and tells of a loss",
			Notes:      "A pause of the process pauses the watchdog too, so it doesn't help.",
			Topologies: topologies, Renews: true, Open: opener(takeWatchdog),
		},
		{
			Name: "redis-fenced", Doc: "redis-lua whose script also takes a fencing token from a counter (INCR)",
			Notes: "A server that loses its memory loses the counter too: the next tokens are equal to earlier ones, or smaller. A " +
				"fence that accepts equal tokens (`--workload counter:fence=at-least`) can't tell two clients with the same token apart.",
			Topologies: topologies, Tokens: true, Open: opener(takeFenced),
		},
	}
}
