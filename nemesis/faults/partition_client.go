package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func partitionClient() nemesis.Spec {
	return nemesis.Spec{
		Name: "partition-client", Doc: "clients are cut off from servers: one, some or all; the others go on",
		Proven: "cut: connections closed, dialling refused; loss: the kernel drops what arrives at the link, as a call shows, and the heal says how many packets; the other modes: the toxic is in place on the connections there are and on every new one. The heal of blackhole closes its connections, that of hold delivers what was kept, in order, that of loss lets what was lost be sent again.",
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
