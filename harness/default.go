package harness

import (
	"github.com/lockstorm/lockstorm/backends/etcd"
	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/backends/nats"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/backends/redislibs"
	"github.com/lockstorm/lockstorm/backends/sql"
	"github.com/lockstorm/lockstorm/backends/zookeeper"
	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/nemesis/faults"
	"github.com/lockstorm/lockstorm/workloads"
)

// Default is the catalogue of lockstorm itself, and the one place that names stores: a new
// one is a folder below backends, and a line here. A new fault, workload or check is one
// file, and one line in its package's list.
func Default() *Catalogue {
	c := &Catalogue{
		Backends:   catalog.New("backend", file.Specs()...),
		Topologies: catalog.New("topology", file.Topologies()...),
		Nemeses:    catalog.New("nemesis", faults.Specs()...),
		Workloads:  catalog.New("workload", workloads.Specs()...),
		Checks:     checks.Default(),
		Registers:  catalog.New("register", etcd.Register(), zookeeper.Register()),
	}
	c.Backends.Add(redis.Specs()...)
	c.Backends.Add(redislibs.Specs()...)
	c.Backends.Add(nats.Specs()...)
	c.Backends.Add(zookeeper.Specs()...)
	c.Backends.Add(etcd.Specs()...)
	c.Backends.Add(sql.Specs()...)
	c.Topologies.Add(redis.Topologies()...)
	c.Topologies.Add(nats.Topologies()...)
	c.Topologies.Add(zookeeper.Topologies()...)
	c.Topologies.Add(etcd.Topologies()...)
	c.Topologies.Add(sql.Topologies()...)
	c.Registers.Add(sql.Registers()...)
	return c
}
