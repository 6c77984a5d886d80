package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func partitionClient() nemesis.Spec {
	return nemesis.Spec{
		Name: "partition-client", Doc: "cuts one, some or all clients off from servers; the others stay connected",
		Notes: "`mode=loss` drops packets in the kernel.",
		Proven: "With `mode=cut`, open connections were closed and a new one was refused; with `mode=loss`, a test connection got no " +
			"answer. The other modes aren't tested: the record counts the connections that the proxy treats so (new ones too).",
		End: "The links are restored. `loss`: lost packets are counted, and sent again by their senders; `blackhole`: connections " +
			"are closed; `hold`: the held data arrives in order.",
		Family: history.FamilyLink, Whom: nemesis.ClientsAndNodes, Links: nemesis.ToServers, Strikes: strikeHolder,
		Fault:  fault{needsServer, injectPartitionClient},
		Params: onLinks("1.5ttl", "3ttl", modeParams()...), Check: checkMode,
	}
}

// injectPartitionClient breaks the links from clients to servers:
//
//	c1 --X    server-1
//	c2 -----> server-1
//
// It breaks every link between the clients and the nodes.
func injectPartitionClient(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var b broken
	err := b.breakAll(ctx, links(w, t), t.Params, w.TTL())
	return b.effect(), err
}
