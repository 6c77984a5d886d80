package redis

import "github.com/lockstorm/lockstorm/backends"

// Part is all of this package, for a catalogue. Its servers are those of this host; package embedded has the same with a server
// inside the program.
func Part() backends.Part {
	return backends.Part{Backends: Specs(), Topologies: Topologies()}
}
