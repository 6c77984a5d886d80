package redis

import (
	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// Specs are the Redis locks for the catalogue.
func Specs() []backends.Spec {
	topologies := []string{Single, SingleAOF}
	return []backends.Spec{
		{
			Name: "redis-setnx", Doc: "SETNX without a time to live, DEL: a dead holder blocks all for ever",
			Topologies: topologies, Ends: history.EndsNever, Open: opener(takeSetnx),
		},
		{
			Name: "redis-setnx-expire", Doc: "SETNX, then EXPIRE as a second command: a death between the two blocks all for ever",
			Topologies: topologies, Ends: history.EndsLease, Open: opener(takeSetnxExpire),
			Points: []backends.Point{{Name: pointSetnxExpire, Doc: "the key is set and has no time to live yet"}},
		},
		{
			Name: "redis-get-del", Doc: "SET NX PX; release by GET, compare, DEL: may delete the lock of the next holder",
			Topologies: topologies, Ends: history.EndsLease, Open: opener(takePX(releaseGetDel)),
			Points: []backends.Point{{Name: pointGetDel, Doc: "the key was seen to be ours and is not deleted yet"}},
		},
		{
			Name: "redis-del", Doc: "SET NX PX; release by a blind DEL: a late release frees somebody else's lock",
			Topologies: topologies, Ends: history.EndsLease, Open: opener(takePX(releaseDel)),
		},
		{
			Name: "redis-lua", Doc: "SET NX PX; release by compare-and-delete in Lua: what most services use",
			Topologies: topologies, Ends: history.EndsLease, Open: opener(takePX(releaseLua)),
		},
		{
			Name: "redis-watchdog", Doc: "redis-lua, renewed every third of its time to live by a watchdog that tells of the loss",
			Topologies: topologies, Ends: history.EndsLease, Renews: true, Open: opener(takeWatchdog),
		},
		{
			Name: "redis-fenced", Doc: "redis-lua with a fencing token from INCR in the acquire script",
			Topologies: topologies, Ends: history.EndsLease, Tokens: true, Open: opener(takeFenced),
		},
	}
}
