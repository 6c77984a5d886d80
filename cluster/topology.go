// Package cluster starts the servers that locks run on. A [Topology] is a list of node
// recipes (declarative: binary, arguments, files, readiness); a [Provider] carries a
// recipe out (the binary from PATH, or an embedded Go server in a child of our own
// binary); a [Cluster] is the running result. Its [Server] values can be paused, killed
// and restarted like the real processes that they are.
//
// Servers listen on 127.0.0.1 only, on free ports, and never outlive the run.
package cluster

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
)

// Ref is how backends and faults know a server: by name and role, never by where it
// listens.
type Ref struct {
	Name string `json:"name"`
	Role string `json:"role"`
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
	// Peers: the servers talk to each other, by announced addresses.
	Peers bool
	// FailOver is how long it takes to replace a master, stated; 0: nobody does. A lease
	// must outlive it for a lost lock to be provable: TTL is the default for such runs.
	FailOver time.Duration
	TTL      time.Duration // default time to live of leases; 0: that of the run
	// Ready returns nil once the servers at these addresses serve together; nil: each for
	// itself is enough.
	Ready func(ctx context.Context, addrs map[string]string) error
}

// EntryName is the name in the catalogue.
func (t Topology) EntryName() string { return t.Name }

// EntryDoc is the line that `list` shows.
func (t Topology) EntryDoc() string { return t.Doc }

// Catalogue is a list of topologies by name.
type Catalogue = catalog.Catalog[Topology]

// Roles of servers at their start.
const (
	RoleMaster   = "master"
	RoleReplica  = "replica"
	RoleSentinel = "sentinel" // holds no data; watches masters and replaces them
	RoleDown     = "down"     // does not answer
)

// Recipe says how one server is started. Args and Files are text/template sources that
// may use {{.Dir}} (the node's own folder), {{.Host}}, {{.Port}}, and where the topology
// has Peers, {{.Source}} (the address to call others from) and {{.PortOf "NODE"}} (the
// announced port). Files are written once: what a server makes of them stays.
type Recipe struct {
	Name    string
	Role    string
	Binary  string            // looked up on PATH
	Package string            // what provides it, for doctor
	Version []string          // arguments that make it print its version
	Args    []string          // arguments
	Files   map[string]string // configuration files, by name below the node's folder
	// Ready returns nil once the server at addr serves; pid, where it is not 0, is the
	// process that must be the one that answers.
	Ready func(ctx context.Context, addr string, pid int) error
	Stage int // servers of a later stage start when all of an earlier one serve
	// Store asks and tells a server that holds data; Supervisor one that replaces masters.
	Store      Store
	Supervisor Supervisor
	// Embedded serves the same protocol inside our own binary until ctx ends; nil where
	// nothing can stand in.
	Embedded func(ctx context.Context, addr string) error
}

// Node finds a recipe by name.
func (t Topology) Node(name string) (Recipe, bool) {
	for _, r := range t.Nodes {
		if r.Name == name {
			return r, true
		}
	}
	return Recipe{}, false
}
