// Package harness wires a run together: it resolves a [Config] against a [Catalogue] into a
// [Trial], starts servers, register and one worker process per client, carries out the plan,
// merges the logs, and has the history judged and reported. It is the only package that
// knows all others.
//
//	Config -> Resolve -> Trial -> Run: plan.json, logs/*.jsonl -> history.jsonl -> results.json, reports
//
// [WorkerMain] must be the first call of main (or TestMain) of every binary that calls
// [Run]: the binary starts itself again as its workers and embedded servers.
package harness

import (
	"github.com/lockstorm/lockstorm/backends"
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
	Registers  *backends.Registers
}
