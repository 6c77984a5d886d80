package redis

import "github.com/lockstorm/lockstorm/backends"

// Part returns this package for a catalogue. Its servers run on this host; package embedded adds a server inside the
// program.
func Part() backends.Part {
	return backends.Part{Backends: Specs(), Topologies: Topologies()}
}
