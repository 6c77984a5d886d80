// Package cluster starts the servers that locks run on. A [Topology] is a list of node recipes (declarative:
// binary, arguments, files, readiness); a [Provider] carries a recipe out (the binary from PATH, or an embedded
// Go server in a child of our own binary) and owns the address of what it started; a [Cluster] is the running
// result. Its [Server] values can be paused, killed and restarted like the real processes that they are; what
// else can be done to one is found with [As]. A store of your own lists its servers as a [Topology]; [Start]
// brings them up.
//
//	Topology (recipes) -> Start -> Provider.Launch -> Instance -> Server -> faults, backends
//
// The package knows no store: what is peculiar to one stands in its recipes, which its
// folder below backends provides. Servers listen on 127.0.0.1 only, on free ports, and
// never outlive the run.
package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Ref is how backends and faults know a server: by name and role, never by where it
// listens.
type Ref struct {
	Name string `json:"name"`
	Role string `json:"role"` // at the start
	// Announced is the address under which the servers themselves speak of this one; empty
	// where they do not. It can be dialled like a name.
	Announced string `json:"announced,omitempty"`
}

// Topology is a named set of servers. Whether it keeps its data over a kill is part of
// what it is, not an option.
type Topology struct {
	Name     string
	Doc      string
	Nodes    []Recipe
	Recovery time.Duration // how long it takes to serve again after the last fault, stated
	// FailOver is how long it takes to replace a master, stated; 0: nobody does. A lease
	// must outlive it for a lost lock to be provable: TTL is the default for such runs.
	FailOver time.Duration
	TTL      time.Duration // default time to live of leases; 0: that of the run
	Volatile bool          // its servers keep nothing on disk: a restart loses every lock
	// Fleet knows the master and can have it replaced; needed exactly where there is FailOver.
	Fleet func(servers []*Server) Fleet
	// Ready returns nil once the servers at these addresses serve together; nil: each for
	// itself is enough. It may let them go then: until then nobody needs to replace anyone.
	Ready func(ctx context.Context, addrs map[string]string) error
}

// EntryName is the name in the catalogue.
func (t Topology) EntryName() string { return t.Name }

// EntryDoc is the line that `list` shows.
func (t Topology) EntryDoc() string { return t.Doc }

// Catalogue is a list of topologies by name.
type Catalogue = catalog.Catalog[Topology]

// Node finds a recipe by name.
func (t Topology) Node(name string) (Recipe, bool) {
	i := slices.IndexFunc(t.Nodes, func(r Recipe) bool { return r.Name == name })
	if i < 0 {
		return Recipe{}, false
	}
	return t.Nodes[i], true
}

// Peers reports whether servers of the topology call each other.
func (t Topology) Peers() bool { return slices.ContainsFunc(t.Nodes, Recipe.peers) }

// Any reports whether something holds for one of the recipes.
func (t Topology) Any(holds func(Recipe) bool) bool { return slices.ContainsFunc(t.Nodes, holds) }

// Fleet is the servers of a topology that replaces its master.
type Fleet interface {
	// Master is the server that those who decide take for the master.
	Master(ctx context.Context) (*Server, error)
	// Promote asks for the master to be replaced although it is well.
	Promote(ctx context.Context) error
}
