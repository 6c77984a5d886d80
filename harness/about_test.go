package harness

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// Only of a run whose servers keep nothing on disk a page names the servers that do, as many as the run had.
func TestTopologyOnDisk(t *testing.T) {
	cat := plainCatalogue()
	for _, c := range []struct{ backend, topology, want string }{
		{"redis-lua", "redis-single", "redis-single-aof"},
		{"redis-lua", "redis-single-aof", ""},
		{"redlock", "redis-five", "redis-five-aof"},
		{"redlock", "redis-five-everysec", "redis-five-aof"},
		{"nats-kv", "nats-three", "nats-three-sync"},
		{"sql-lease-row", "mariadb-flush2", "mariadb"},
		{"zk-exclusive", "zk-single", ""},
	} {
		b, err := cat.Backends.Get(c.backend)
		if err != nil {
			t.Fatal(err)
		}
		j := &Judged{Results: &checker.Results{Topology: c.topology}, topologies: cat.Topologies}
		if got := j.onDisk(b); got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.backend, c.topology, got, c.want)
		}
	}
}
