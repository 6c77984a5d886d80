// Package stores lets you make a catalogue of all stores that lockstorm knows: harness.New(stores.All()...). To test a lock of
// your own, add only the parts that it needs, such as redis.Part; no others are compiled in. This is the one place that lists
// stores: a new one is a folder below backends, and a line here.
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

// All returns the parts of all stores.
func All() []backends.Part {
	return []backends.Part{
		file.Part(), embedded.Part(), redislibs.Part(), nats.Part(), zookeeper.Part(), etcd.Part(), sql.Part(),
	}
}
