package nats

import (
	"context"
	"os/exec"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/companion/servers"
	"github.com/lockstorm/lockstorm/internal/leaktest"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

func TestMain(m *testing.M) {
	servers.Child()
	leaktest.Main(m)
}

// both runs a test with the installed program and with the embedded server, side by side: it waits for most of its time.
func both(t *testing.T, topology string, test func(b *ensembletest.Bench)) {
	t.Helper()
	top := ensembletest.Named(t, Topologies(), topology)
	t.Run(cluster.ProcessName, func(t *testing.T) {
		t.Parallel()
		test(ensembletest.Start(t, top))
	})
	t.Run(cluster.EmbeddedName, func(t *testing.T) {
		t.Parallel()
		test(ensembletest.StartWith(t, top, cluster.EmbeddedName, embedded))
	})
}

func embedded(s *proc.Starter) []cluster.Provider {
	beside := func(_ cluster.Topology, r cluster.Recipe, _ string) (*exec.Cmd, error) {
		return companion.Command(r.Beside[0], r.Beside[1:]...)
	}
	return []cluster.Provider{cluster.Embedded{Starter: s, Command: beside}}
}

// One server keeps what it has over a kill.
func TestSingle(t *testing.T) {
	both(t, Single, func(b *ensembletest.Bench) {
		s := b.Cluster.Servers()[0]
		bucket := func(f func(kv jetstream.KeyValue) error) error { return withBucket(b.Ctx, s.Addr(), 1, f) }
		if err := bucket(func(kv jetstream.KeyValue) error { _, err := kv.Create(b.Ctx, "kept", nil); return err }); err != nil {
			b.Fatal(err)
		}
		if err := s.Kill(b.Ctx); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Restart(b.Ctx); err != nil {
			b.Fatal(err)
		}
		if err := bucket(func(kv jetstream.KeyValue) error { _, err := kv.Get(b.Ctx, "kept"); return err }); err != nil {
			b.Errorf("what was written before the kill: %v", err)
		}
	})
}

// withBucket calls f with a bucket of that many replicas.
func withBucket(ctx context.Context, addr string, replicas int, f func(kv jetstream.KeyValue) error) error {
	return as(ctx, lockUser, addr, func(ctx context.Context, nc *natsgo.Conn) error {
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "test", Replicas: replicas})
		if err != nil {
			return err
		}
		return f(kv)
	})
}

// The leader of the locks' stream hands over when it is told to.
func TestMove(t *testing.T) {
	both(t, Three, func(b *ensembletest.Bench) {
		b.Whole()
		addr := b.Cluster.Servers()[0].Addr()
		// the leader gives no replica to a server before it knows how much that one has
		b.Await("a bucket on three servers", func() bool {
			return withBucket(b.Ctx, addr, 3, func(jetstream.KeyValue) error { return nil }) == nil
		})
		b.Await("a server reports the stream", func() bool {
			groups, err := groupsOf(b.Ctx, addr)
			return err == nil && len(groups) > 1
		})
		old := b.Leader()
		b.Await("the leader hands over", func() bool { return b.Cluster.Fleet().Promote(b.Ctx) == nil })
		b.Logf("%s leads in place of %s", b.Leader(old).Name(), old.Name())
	})
}

// Every leader that is killed, stopped or cut off is replaced, and no traffic between the members
// passes beside the links. The embedded server does the same in a series.
func TestElections(t *testing.T) {
	t.Parallel()
	ensembletest.Start(t, ensembletest.Named(t, Topologies(), Three)).Elections()
}
