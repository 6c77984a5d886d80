package nats

import "github.com/lockstorm/lockstorm/backends"

// Part returns this package for a catalogue.
func Part() backends.Part {
	return backends.Part{Backends: Specs(), Topologies: Topologies()}
}
