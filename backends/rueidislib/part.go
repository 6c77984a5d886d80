// Package rueidislib is redis/rueidis/rueidislock as a backend, run as package redislibs runs its libraries. It is a package of
// its own because rueidis has a type for each command of Redis, which makes every program that it is in 10 MB larger:
// cmd/lockstorm-full has it, cmd/lockstorm has not (docs/adr/0027).
package rueidislib

import (
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redislibs"
	"github.com/lockstorm/lockstorm/history"
)

// Part is the library, for a catalogue. Its servers are those of package redis.
func Part() backends.Part { return backends.Part{Backends: Specs()} }

// Specs is the library.
func Specs() []backends.Spec {
	return []backends.Spec{
		{
			Name: "rueidislock", Doc: "the library redis/rueidis/rueidislock v1.0.79: each lock has three keys on one server, and a client that has two of these keys holds the lock; the library extends the keys in the background; the lock's context ends when the lock is lost",
			Library: "github.com/redis/rueidis v1.0.79", Params: rueidisParams, With: withRueidis,
			Signals:    []backends.Signal{{Kind: backends.SignalContext, Name: "the context that WithContext returns"}},
			Notes:      "Only the program `lockstorm-full` contains the library rueidislock. All keys of a lock are on one server. To hold the lock, a client must have a majority of the lock's keys. A hook in the library's Redis client tells lockstorm which keys the library extends and deletes. When a majority of the keys is lost, the library stops extending the keys, and ends the context. If the library gets no answer to an extension, it waits until the later deadline: the deadline after a successful extension. If the current lease ends before the deadline of the unanswered extension, the library reports the loss of the lock late.",
			Topologies: redislibs.Single(), Ends: history.EndsLease, Renews: true, Open: openRueidis,
			RealServer: "the embedded server does not support CLIENT TRACKING, which this library needs when it waits for a lock",
			Recovery:   10 * time.Second, // ConnWriteTimeout of rueidis
		},
	}
}
