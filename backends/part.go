package backends

import "github.com/lockstorm/lockstorm/cluster"

// Part is what a store adds to a catalogue: its locks, their servers, and registers that it keeps itself. Package
// stores has the parts of lockstorm.
type Part struct {
	Backends   []Spec
	Topologies []cluster.Topology
	Registers  []Register
}
