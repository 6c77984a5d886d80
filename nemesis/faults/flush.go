package faults

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func flush() nemesis.Spec {
	return nemesis.Spec{
		Name: "flush", Doc: "deletes all data on a server (FLUSHALL)",
		Proven: "The server counted its keys and confirmed their deletion.",
		End:    "The data stays deleted.",
		Family: history.FamilyStore, Whom: nemesis.Nodes, Strikes: strikeAcquired,
		Params: nemesis.ServerParams(nemesis.AtOnce, "2ttl", nemesis.RoleMaster), Fault: fault{needsStore, injectFlush},
	}
}

// injectFlush deletes everything that servers have.
// It flushes and says how many keys there were.
func injectFlush(ctx context.Context, _ nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	proof, err := onEach(t.Nodes, "cannot delete its data", func(_ nemesis.Node, s cluster.Forgetter) (string, error) {
		n, err := s.Flush(ctx)
		return fmt.Sprintf("deleted all of its %d keys", n), err
	})
	return nemesis.Effect{Proof: proof}, err
}
