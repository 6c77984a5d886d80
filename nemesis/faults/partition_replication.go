package faults

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

func partitionReplication() nemesis.Spec {
	return nemesis.Spec{
		Name: "partition-replication", Doc: "cuts replicas off from the master; clients and supervisors still reach it",
		Notes:  "Supervisors have links of their own, and notice nothing.",
		Proven: "With `mode=cut`, the master reports that it has no replica left; else as for partition-client.",
		End:    "As for partition-client, without waiting for the replicas to catch up.",
		Family: history.FamilyLink, Whom: nemesis.Nodes, Check: checkMode,
		Fault:  fault{canPartitionReplication, injectPartitionReplication},
		Params: nemesis.ServerParams("1.5ttl", "3ttl", nemesis.RoleMaster, modeParams()...),
	}
}

// canPartitionReplication says whether somebody replicates.
func canPartitionReplication(s nemesis.Setting) error {
	return cmp.Or(
		lack(s.Peers, "the servers of topology %s do not replicate: this fault needs a topology with replicas", s.Topology),
		lack(s.Follows, "on topology %s a leader steps down when it loses its followers, so this fault cannot work: use leader-isolate",
			s.Topology))
}

// injectPartitionReplication breaks the links from the replicas to the master, and nothing
// else: no fail-over begins.
//
//	replica --X   master <----- supervisors, clients
//
// It breaks the links and, where they are cut, has the master say that nobody follows
// it any more.
func injectPartitionReplication(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var b broken
	for _, n := range t.Nodes {
		l, err := leaderOf(n)
		if err != nil {
			return b.effect(), err
		}
		followers, err := l.Followers(ctx)
		if err != nil {
			return b.effect(), err
		}
		if followers == 0 {
			return b.effect(), fmt.Errorf("%s has no replica that could be cut off: use nodes=master", n.Name())
		}
		b.began = cmp.Or(b.began, w.Now())
		if err := b.unfollow(ctx, w, n, t.Params); err != nil {
			return b.effect(), err
		}
	}
	return b.effect(), nil
}

// leaderOf is a node that knows who follows it.
func leaderOf(n nemesis.Node) (cluster.Leader, error) {
	l, ok := nemesis.As[cluster.Leader](n)
	if !ok {
		return nil, fmt.Errorf("server %s does not report its replicas", n.Name())
	}
	return l, nil
}

// unfollow breaks the way from every other data node to a master and, where it is cut, waits
// until the master says that nobody follows it.
func (b *broken) unfollow(ctx context.Context, w nemesis.World, master nemesis.Node, p catalog.Values) error {
	for _, other := range w.Nodes() {
		if other.Data() && other.Name() != master.Name() {
			if err := b.breakAll(ctx, w.Net().Links(other.Name(), master.Name()), p, w.TTL()); err != nil {
				return err
			}
		}
	}
	l, err := leaderOf(master)
	if err != nil || (p[paramMode] != modeCut && p[paramMode] != "") {
		return err
	}
	left := 0
	err = nemesis.Until(ctx, func() (bool, error) {
		var err error
		if left, err = l.Followers(ctx); err != nil {
			err = fmt.Errorf("cannot ask %s for its replicas: %w", master.Name(), err)
		}
		return left == 0, err
	})
	switch {
	case err == nil:
		b.proofs = append(b.proofs, master.Name()+" has no replica left")
		return nil
	case left > 0 && ctx.Err() != nil:
		return fmt.Errorf("%s still reports connected replicas: %d (expected: 0)", master.Name(), left)
	default:
		return err
	}
}
