package backends

import "github.com/lockstorm/lockstorm/cluster"

// Part is what a store brings into a catalogue: its locks, the servers that they need, registers that it keeps itself. A way to
// start servers in containers comes as a part, too. Package stores has those of lockstorm.
type Part struct {
	Backends   []Spec
	Topologies []cluster.Topology
	Registers  []Register
	Containers cluster.Containers // nil: this part has none
}
