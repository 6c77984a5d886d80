package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func partitionClient() nemesis.Spec {
	return nemesis.Spec{
		Name: "partition-client", Doc: "cuts one, some or all clients off from servers; the other clients stay connected",
		Proven: "With mode=cut, connections are closed, and new connections are refused. With mode=loss, the kernel drops every packet that arrives at the link. A test call without an answer proves the loss, and the heal says how many packets were lost. After the heal the senders retransmit the lost packets. With the other modes, toxiproxy disturbs all open connections and every new connection. The heal of mode=blackhole closes the connections. The heal of mode=hold delivers all data in order.",
		Family: history.FamilyLink, Whom: nemesis.ClientsAndNodes, Links: nemesis.ToServers, Strikes: strikeHolder, Fault: PartitionClient{},
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
