package redislibs

import "github.com/lockstorm/lockstorm/backends"

// Part is all of this package, for a catalogue. Its servers are those of package redis.
func Part() backends.Part {
	return backends.Part{Backends: Specs()}
}
