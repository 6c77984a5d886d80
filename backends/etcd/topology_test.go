package etcd

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/internal/leaktest"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// One server leads itself, and keeps what it has over a kill.
func TestSingle(t *testing.T) {
	b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), Single))
	b.Keeps(func(addr string) error {
		ctx, cancel := context.WithTimeout(b.Ctx, adminTimeout)
		defer cancel()
		_, err := asked(addr, func(c *clientv3.Client) (any, error) { return c.Put(ctx, "kept", "yes") })
		return err
	}, func(addr string) (bool, error) {
		found, err := newAdmin(func() string { return addr }).(admin).Has(b.Ctx, []string{"kept"})
		return len(found) == 1, err
	})
}

// Every leader that is killed, stopped or cut off is replaced, and no traffic between the members
// passes beside the links.
func TestElections(t *testing.T) {
	ensembletest.Start(t, ensembletest.Named(t, Topologies(), Three)).Elections()
}
