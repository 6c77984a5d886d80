// Package harness lets you make a run from Go, where lockstormtest is not enough: it resolves a [Config] against a [Catalogue]
// into a [Trial], starts servers, register and one worker process per client, carries out the plan, merges the logs, and has the
// history judged and reported. It is the only package that knows all others.
//
//	Config -> Resolve -> Trial -> Run: plan.json, logs/*.jsonl -> history.jsonl -> results.json, reports
//
// A binary that calls [Run] starts itself again as its workers and embedded servers: lockstorm.Main and lockstormtest.Main call
// [WorkerMain] first for that.
package harness

import (
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/adapter"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/cluster/container"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/nemesis/faults"
	"github.com/lockstorm/lockstorm/workloads"
)

// Catalogue is everything that a run can be made of. It is a value: add to it before you pass it on.
type Catalogue struct {
	Backends   *backends.Catalogue
	Topologies *cluster.Catalogue
	Nemeses    *nemesis.Catalogue
	Workloads  *workloads.Catalogue
	Checks     *checker.Catalogue
	Registers  *backends.Registers
	Renderers  []Renderer // a program's own reports, beside ours, in every run directory
	Stock      []string   // names of the backends that came with parts

	containers func(cluster.ContainerOptions) cluster.Provider
}

// TopologyOf returns a topology on which a backend runs, by name: from the catalogue, or the one that the backend brings.
func (c *Catalogue) TopologyOf(b backends.Spec, name string) (cluster.Topology, error) {
	if b.Brings != nil && b.Brings.Name == name {
		if b.Brings.Over == "" {
			return *b.Brings, nil
		}
		base, err := c.Topologies.Get(b.Brings.Over)
		if err != nil {
			return base, fmt.Errorf("topology %s stands on another one: %w", name, err)
		}
		t := b.Brings.On(base)
		return t, t.Valid()
	}
	return c.Topologies.Get(name)
}

// Renderer writes a report of a run from its results and its record.
type Renderer struct {
	File  string // name in the directory of the run
	Write func(w io.Writer, r *checker.Results, rec *history.Record) error
}

// New returns a catalogue of all faults, workloads and checks, with the stores of parts: those of package stores, or
// fewer, or your own. Without parts it has no store.
func New(parts ...backends.Part) *Catalogue {
	c := &Catalogue{
		Backends:   catalog.New[backends.Spec]("backend"),
		Topologies: catalog.New[cluster.Topology]("topology"),
		Nemeses:    catalog.New("nemesis", faults.Specs()...),
		Workloads:  catalog.New("workload", workloads.Specs()...),
		Checks:     checks.Default(),
		Registers:  catalog.New[backends.Register]("register"),
		containers: container.New,
	}
	for _, p := range parts {
		c.Backends.Add(p.Backends...)
		c.Topologies.Add(p.Topologies...)
		c.Registers.Add(p.Registers...)
	}
	c.Stock = c.Backends.Names()
	c.Backends.AddUnlisted(adapter.Spec())
	return c
}
