// Package harness wires a run together: it resolves a [Config] against a [Catalogue],
// starts servers, register and one worker process per client, carries out the plan,
// merges the logs, and has the history judged and reported. It is the only package that
// knows all others.
//
//	Config -> Resolve -> Run: plan.json, logs/*.jsonl -> history.jsonl -> results.json, reports
//
// [WorkerMain] must be the first call of main (or TestMain) of every binary that calls
// [Run]: the binary starts itself again as its workers and embedded servers.
package harness

import (
	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/backends/redislibs"
	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
)

// Catalogue is everything that a run can be made of. It is a value: add to it before it
// is passed on.
type Catalogue struct {
	Backends   *backends.Catalogue
	Topologies *cluster.Catalogue
	Nemeses    *nemesis.Catalogue
	Workloads  *workloads.Catalogue
	Checks     *checker.Catalogue
}

// Default is the catalogue of lockstorm itself. A new backend, fault, workload or check
// is one file, and one line in its package's list.
func Default() *Catalogue {
	c := &Catalogue{
		Backends:   catalog.New("backend", file.Specs()...),
		Topologies: catalog.New("topology", file.Topologies()...),
		Nemeses:    catalog.New("nemesis", nemesis.Specs()...),
		Workloads:  catalog.New("workload", workloads.Specs()...),
		Checks:     checker.Default(),
	}
	c.Backends.Add(redis.Specs()...)
	c.Backends.Add(redislibs.Specs()...)
	c.Topologies.Add(redis.Topologies()...)
	return c
}
