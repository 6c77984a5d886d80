package redislibs

import "github.com/lockstorm/lockstorm/backends"

// Part returns this package for a catalogue. Its servers are those of package redis.
func Part() backends.Part {
	return backends.Part{Backends: Specs()}
}
