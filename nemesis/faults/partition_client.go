package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func partitionClient() nemesis.Spec {
	return nemesis.Spec{
		Name: "partition-client", Doc: "one, some or all clients are cut off from servers; the others go on",
		Proven: "mode=cut: connections are closed, and dialling is refused. loss: the kernel drops every packet that arrives at the link, as a call without an answer shows; the heal says how many packets were lost. Other modes: the toxic is in place on all open connections and on every new one. The heal of blackhole closes the connections; the heal of hold delivers everything in order; after the heal of loss the senders retransmit.",
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
