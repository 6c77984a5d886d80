// Package redislibs lets you test published libraries of locks on Redis (add [Part] to a catalogue): redsync and redislock (bsm).
// Each is run as its README shows it, with its own defaults and those of its Redis client, retries included: only the time to
// live, the names of the keys and the dialler are ours (docs/adr/0015). Each adapter records what its library reports and nothing
// more; what the library hides is read from its connections (package tap).
package redislibs

import (
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/internal/tap"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/history"
)

// goredisRecovery is how long a go-redis client with its defaults may still wait for an answer
// that a fault has swallowed, before it asks again.
const goredisRecovery = 6 * time.Second

// Specs returns the libraries.
func Specs() []backends.Spec {
	five := redis.WithDisks(redis.Five, redis.Single)
	return []backends.Spec{
		{
			Name: "redsync", Doc: "the library go-redsync/redsync v4.18.1: Redlock; Until gives the deadline",
			Library: "github.com/go-redsync/redsync/v4 v4.18.1", Params: redsyncParams, With: withRedsync,
			Signals: []backends.Signal{{Kind: backends.SignalMethod, Name: "Until"}, {Kind: backends.SignalError, Name: "Extend"}},
			Calls:   []string{backends.CallExtend, backends.CallAsk, backends.CallToken, backends.CallReuse},
			Notes: "It doesn't extend by itself: `--workload counter:extend=background` does, as its users do. Which nodes granted is " +
				"seen on its connections. It asks all nodes at once and waits for all answers, with `fail-fast=yes` for a majority of " +
				"equal ones. go-redis ignores its deadline for a node: a silent one costs 4 attempts of 5 s each.",
			Voters: true, Topologies: five, Ends: history.EndsLease, Keys: redis.Keys, Open: openRedsync, Recovery: goredisRecovery,
		},
		{
			Name: "redislock", Doc: "the library bsm/redislock v0.9.4: SET NX PX in a script; release by compare-and-delete",
			Library: "github.com/bsm/redislock v0.9.4", Params: redislockParams, With: withRedislock,
			Signals: []backends.Signal{{Kind: backends.SignalMethod, Name: "TTL"}, {Kind: backends.SignalError, Name: "Refresh"}},
			Calls:   []string{backends.CallExtend, backends.CallAsk, backends.CallToken},
			Notes: "TTL asks the server, which denies the lock after the end of the lease. Its token is the random value in the " +
				"key, no fencing token. Obtain takes over a lock whose token begins with the caller's: a request that is sent twice " +
				"succeeds, and tokens of your own must not begin with one another.",
			Topologies: redis.WithDisks(redis.Single, redis.Replica, redis.Sentinel), Ends: history.EndsLease,
			Keys: redis.Keys, Open: openRedislock, Recovery: goredisRecovery,
		},
	}
}

// client is a go-redis client of a node with an address and nothing else, or of the master that Sentinels
// name, with their addresses and its name: the dialler is ours.
func client(env backends.Env, node string, t *tap.Tap) *goredis.Client {
	logging.Disable()
	if sentinels := redis.Sentinels(env); len(sentinels) > 0 {
		return goredis.NewFailoverClient(&goredis.FailoverOptions{
			MasterName: redis.MasterName, SentinelAddrs: sentinels,
			Dialer: redis.AnyDialer(env, t),
		})
	}
	return goredis.NewClient(&goredis.Options{Addr: node, Dialer: redis.Dialer(env, node, t)})
}

// ErrNoServer is returned where the topology has no Redis server for the lock.
var ErrNoServer = errors.New("this lock needs Redis servers: use --topology redis-... (`lockstorm list topologies` shows them)")
