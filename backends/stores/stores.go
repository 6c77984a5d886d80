// Package stores has all stores that lockstorm knows, for a catalogue: harness.New(stores.All()...). Who tests a
// lock of an own takes the parts that it needs, as redis.Part, and compiles no others in. It is the one place
// that lists stores: a new one is a folder below backends, and a line here. Take it to test against every store.
package stores

import (
	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/etcd"
	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/backends/nats"
	"github.com/lockstorm/lockstorm/backends/redis/embedded"
	"github.com/lockstorm/lockstorm/backends/redislibs"
	"github.com/lockstorm/lockstorm/backends/sql"
	"github.com/lockstorm/lockstorm/backends/zookeeper"
)

// All are the parts of all stores. Containers are a part of their own: container.Docker of package cluster/container.
func All() []backends.Part {
	return []backends.Part{
		file.Part(), embedded.Part(), redislibs.Part(), nats.Part(), zookeeper.Part(), etcd.Part(), sql.Part(),
	}
}
