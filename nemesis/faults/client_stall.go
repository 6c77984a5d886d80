package faults

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func clientStall() nemesis.Spec {
	return nemesis.Spec{
		Name: "client-stall", Doc: "stops only the goroutine in the critical section; the one that renews the lease goes on",
		Proven: "The client's log shows that it stopped at the point.",
		End:    "The client goes on.",
		Family: history.FamilyClient, Whom: nemesis.Clients, Gates: true, Params: nemesis.ClientParams("1.5ttl", "2.5ttl"),
		Strikes: strikeHolder, Fault: fault{nil, injectClientStall},
	}
}

// injectClientStall keeps the goroutine of the critical section at its point, while the rest
// of the process, the renewer among it, goes on:
//
//	section --acquire--|...............|--write-->
//	renewer ---renew-----renew---renew-----renew->
//
// It does nothing more: the client stands at its point, which its log shows.
func injectClientStall(_ context.Context, _ nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	if t.Hit == nil {
		return nemesis.Effect{}, errors.New("client-stall can stop a client only at a point: name one with at=")
	}
	h := t.Hit
	return nemesis.Effect{
		Proof: fmt.Sprintf("lockstorm has stopped %s at the point %s", h.Client.Name(), h.Point),
		Heal: func(context.Context) (string, error) {
			h.Go()
			return h.Client.Name() + " goes on", nil
		},
	}, nil
}
