package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func partitionClient() nemesis.Spec {
	return nemesis.Spec{
		Name: "partition-client", Doc: "cuts one, some or all clients off from servers; the other clients stay connected",
		Notes:  "With mode=loss, the kernel drops every packet that arrives at the link.",
		Proven: "With mode=cut, lockstorm has closed the open connections, and a new connection is refused or closed at once. With mode=loss, a test connection through the link gets no answer. With modes other than cut and loss, lockstorm does not test the links. If lockstorm does not test the links, the record gives the number of open connections whose data the proxy (toxiproxy) drops, holds or delays. The proxy treats new connections in the same way as open connections.",
		End:    "lockstorm restores the links. With mode=loss, the senders retransmit the lost packets, and lockstorm reports how many packets were lost. With mode=blackhole, lockstorm closes the connections. With mode=hold, the proxy delivers all held data, in order.",
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
