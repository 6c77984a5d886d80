package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
)

// PartitionClient breaks the links from clients to servers:
//
//	c1 --X    redis-1
//	c2 -----> redis-1
type PartitionClient struct{}

var (
	_ Fault   = PartitionClient{}
	_ Checker = PartitionClient{}
)

// Available says whether there is a server.
func (PartitionClient) Available(s Setting) error { return needsServer(s) }

// Check reads the parameters.
func (PartitionClient) Check(own catalog.Values, ttl time.Duration) error { return checkMode(own, ttl) }

// Inject breaks every link between the clients and the nodes.
func (PartitionClient) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	var b broken
	for _, c := range t.Clients {
		for _, n := range t.Nodes {
			if err := b.breakLink(ctx, w.Net().Link(c.Name(), n.Name()), t.Params, w.TTL()); err != nil {
				return b.effect(), err
			}
		}
	}
	return b.effect(), nil
}

// PartitionReplication breaks the links from the replicas to the master, and nothing
// else: no fail-over begins.
//
//	replica --X   master <----- Sentinels, clients
type PartitionReplication struct{}

var (
	_ Fault   = PartitionReplication{}
	_ Checker = PartitionReplication{}
)

// Available says whether somebody replicates.
func (PartitionReplication) Available(s Setting) error {
	if !s.Peers {
		return fmt.Errorf("the servers of %s do not replicate", s.Topology)
	}
	return nil
}

// Check reads the parameters.
func (PartitionReplication) Check(own catalog.Values, ttl time.Duration) error {
	return checkMode(own, ttl)
}

// Inject breaks the links and, where they are cut, has the master say that nobody follows
// it any more.
func (PartitionReplication) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	var b broken
	for _, n := range t.Nodes {
		if err := hasFollowers(ctx, n); err != nil {
			return b.effect(), err
		}
		if err := b.unfollow(ctx, w, n, t.Params); err != nil {
			return b.effect(), err
		}
	}
	return b.effect(), nil
}

// hasFollowers says whether there is any replication that could be broken.
func hasFollowers(ctx context.Context, n Node) error {
	s, ok := n.(Storer)
	if !ok {
		return fmt.Errorf("node %s holds no data", n.Name())
	}
	followers, err := s.Followers(ctx)
	if err == nil && followers == 0 {
		err = fmt.Errorf("%s has no replica that could be cut off: nodes=master is meant", n.Name())
	}
	return err
}

// unfollow breaks the way from every other data node to a master.
func (b *broken) unfollow(ctx context.Context, w World, master Node, p catalog.Values) error {
	for _, other := range w.Nodes() {
		if other.Data() && other.Name() != master.Name() {
			if err := b.breakLink(ctx, w.Net().Link(other.Name(), master.Name()), p, w.TTL()); err != nil {
				return err
			}
		}
	}
	s, ok := master.(Storer)
	if !ok || (p[paramMode] != modeCut && p[paramMode] != "") {
		return nil
	}
	for {
		n, err := s.Followers(ctx)
		if err != nil {
			return fmt.Errorf("ask %s for its replicas: %w", master.Name(), err)
		}
		if n == 0 {
			b.proofs = append(b.proofs, master.Name()+" has no replica any more")
			return nil
		}
		if !sleep(ctx, lookEvery) {
			return fmt.Errorf("%s still has %d replicas", master.Name(), n)
		}
	}
}
