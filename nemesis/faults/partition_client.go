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
		Fault:  PartitionClient{},
		Params: onLinks("1.5ttl", "3ttl", modeParams()...), Check: checkMode,
	}
}

// PartitionClient breaks the links from clients to servers:
//
//	c1 --X    server-1
//	c2 -----> server-1
type PartitionClient struct{}

var _ nemesis.Fault = PartitionClient{}

// Available says whether there is a server.
func (PartitionClient) Available(s nemesis.Setting) error { return needsServer(s) }

// Inject breaks every link between the clients and the nodes.
func (PartitionClient) Inject(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
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
