package backends

import "github.com/lockstorm/lockstorm/cluster"

// Part is what a store adds to a catalogue: its locks, their servers, and registers that it keeps itself. Starting
// servers in containers comes as a part, too. Package stores has the parts of lockstorm.
type Part struct {
	Backends   []Spec
	Topologies []cluster.Topology
	Registers  []Register
	Containers cluster.Containers // nil: this part has none
}
