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
			Name: "rueidislock", Doc: "redis/rueidis/rueidislock v1.0.79: two of three keys on one server, extended in the background, a context that ends with the loss",
			Library: "github.com/redis/rueidis v1.0.79", Params: rueidisParams, With: withRueidis,
			Signals:    []backends.Signal{{Kind: backends.SignalContext, Name: "the context of WithContext"}},
			Notes:      "It is in `lockstorm-full` alone. A majority of keys on one server. What it extends and deletes is read from its Redis commands by a hook of its client. The extension ends, and its context with it, when a majority of the keys is lost; an extension that is not answered is waited for until the deadline that it asked for, which is later than the one that it had.",
			Topologies: redislibs.Single(), Ends: history.EndsLease, Renews: true, Open: openRueidis,
			RealServer: "the embedded server knows no CLIENT TRACKING, by which this library waits",
			Recovery:   10 * time.Second, // ConnWriteTimeout of rueidis
		},
	}
}
