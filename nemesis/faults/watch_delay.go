package faults

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

func watchDelay() nemesis.Spec {
	return nemesis.Spec{
		Name: "watch-delay", Doc: "holds back all that servers send to a client, but not its requests: it learns late what it was " +
			"granted or lost",
		Proven: "Not tested whether answers are late: the record counts the connections that the proxy holds back (new ones too).",
		End:    "The held data arrives in order.",
		Family: history.FamilyLink, Whom: nemesis.ClientsAndNodes, Links: nemesis.ToServers,
		Fault:   fault{needsServer, injectWatchDelay},
		Strikes: func(k int, _ []string) string { return []string{history.AtWaiting, history.AtAcquired}[k%2] },
		Params:  onLinks("0.4ttl", "2ttl"),
	}
}

// injectWatchDelay holds the answers to clients, and the notices:
//
//	c1 ----> server-1      requests
//	c1 --|   server-1      answers, notices of watches
//
// It holds every link from the nodes to the clients.
func injectWatchDelay(_ context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var b broken
	for _, c := range t.Clients {
		for _, n := range t.Nodes {
			l := w.Net().Link(c.Name(), n.Name())
			err := b.apply(l, fmt.Sprintf("holds back the data that %s sends", n.Name()),
				func() (*link.Applied, error) { return l.Hold(link.From) })
			if err != nil {
				return b.effect(), err
			}
		}
	}
	return b.effect(), nil
}
