// Package cluster lets you start servers for a lock of your own: list them as a [Topology]. A [Topology] is a list of node
// recipes (declarative: binary, arguments, files, readiness); a [Provider] starts a recipe's server (the binary from PATH, or an
// embedded Go server in a child of our own binary) and owns its address; a [Cluster] is the running result. Its [Server] values
// can be paused, killed and restarted like the real processes that they are; find what else can be done to one with [As]. A store
// of your own lists its servers as a [Topology]; [Start] starts them.
//
//	Topology (recipes) -> Start -> Provider.Launch -> Instance -> Server -> faults, backends
//
// The package knows no store: what is special about one is in its recipes, which its folder below backends provides.
// Servers listen on 127.0.0.1 only, on free ports, and never outlive the run.
package cluster

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// Ref is how backends and faults know a server: by name and role, never by its address.
type Ref struct {
	Name string `json:"name"`
	Role string `json:"role"` // at the start
	// Announced is the address under which the servers themselves know this one; empty where there is none. It can be
	// dialled like a name.
	Announced string `json:"announced,omitempty"`
}

// Topology is a named set of servers. Whether it keeps its data over a kill is a property of the topology, not an
// option.
type Topology struct {
	Name     string
	Doc      string
	Nodes    []Recipe
	Over     string        // the topology on which these servers stand, see [Topology.On]; empty: none
	Recovery time.Duration // stated time to serve again after the last fault
	// FailOver is the stated time to replace a master; 0: none is replaced. A lease must outlive it for a lost lock to
	// be provable: TTL is the default for such runs.
	FailOver time.Duration
	TTL      time.Duration // default time to live of leases; 0: that of the run
	Volatile bool          // its servers keep nothing on disk: a restart loses every lock
	Unsynced bool          // its servers acknowledge what is not on disk yet: a loss of power loses that
	// Fleet knows the master and can have it replaced; set it exactly if FailOver is set.
	Fleet func(servers []*Server) Fleet
	// Ready returns nil once the servers at these addresses serve together; nil: it is enough that each serves. It may
	// enable fail-over then: before, no master needs to be replaced.
	Ready func(ctx context.Context, addrs map[string]string) error
}

// EntryName returns the name in the catalogue.
func (t Topology) EntryName() string { return t.Name }

// EntryDoc returns the line that `list` shows.
func (t Topology) EntryDoc() string { return t.Doc }

// Catalogue is a list of topologies by name.
type Catalogue = catalog.Catalog[Topology]

// Node returns a recipe by name.
func (t Topology) Node(name string) (Recipe, bool) {
	return lists.Find(t.Nodes, func(r Recipe) bool { return r.Name == name })
}

// On returns the topology with the servers of another one below its own, which start once those serve and reach each of them by
// a link of their own. Who leads, and how soon a leader is replaced, is that one's.
func (t Topology) On(base Topology) Topology {
	stage := 0
	var below []Recipe
	for _, r := range base.Nodes {
		r.Hidden = true
		if r.Peering == NoPeers {
			r.Peering = Pairwise
		}
		below, stage = append(below, r), max(stage, r.Stage+1)
	}
	for _, r := range t.Nodes {
		r.Stage += stage
		below = append(below, r)
	}
	t.Nodes, t.Over, t.Recovery = below, "", t.Recovery+base.Recovery
	t.FailOver, t.TTL, t.Fleet = base.FailOver, max(t.TTL, base.TTL), base.Fleet
	t.Volatile, t.Unsynced = t.Volatile || base.Volatile, t.Unsynced || base.Unsynced
	if base.Ready != nil {
		t.Ready = func(ctx context.Context, addrs map[string]string) error {
			addrs = maps.Clone(addrs)
			maps.DeleteFunc(addrs, func(name, _ string) bool { _, has := base.Node(name); return !has })
			return base.Ready(ctx, addrs)
		}
	}
	return t
}

// Peers reports whether servers of the topology call each other.
func (t Topology) Peers() bool { return slices.ContainsFunc(t.Nodes, Recipe.peers) }

// Any reports whether holds is true for one of the recipes.
func (t Topology) Any(holds func(Recipe) bool) bool { return slices.ContainsFunc(t.Nodes, holds) }

// Fleet is the servers of a topology that replaces its master.
type Fleet interface {
	// Master returns the server that the deciding servers take for the master.
	Master(ctx context.Context) (*Server, error)
	// Promote has the master replaced although it is well.
	Promote(ctx context.Context) error
}
