package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis/link"
)

// PacketDelay holds what clients send to the resource, and delivers it at the heal:
//
//	client --[check]--write--> (held ... ttl ... held) --> register
//
// The client is alive and did everything right: its write is late.
type PacketDelay struct{}

var _ Fault = PacketDelay{}

// Available says whether clients send anything to the resource.
func (PacketDelay) Available(s Setting) error {
	if !s.Resource {
		return errors.New("the workload touches no data: there is nothing to delay")
	}
	return nil
}

// Inject holds the way to the register, lets the client that stands at the point go, and
// returns when a request is being held.
func (PacketDelay) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	var b broken
	var held []*link.Applied
	for _, c := range t.Clients {
		l := w.Net().Link(c.Name(), history.PartyRegister)
		if err := b.apply(l, "keeps requests", func() (*link.Applied, error) {
			a, err := l.Hold(link.To)
			held = append(held, a)
			return a, err
		}); err != nil {
			return b.effect(), err
		}
	}
	if t.Hit != nil {
		t.Hit.Go()
	}
	for {
		var n int64
		for _, a := range held {
			n += a.Held()
		}
		if n > 0 {
			e := b.effect()
			e.Proof = fmt.Sprintf("%d bytes from %s to the register are being held", n, t.Clients[0].Name())
			return e, nil
		}
		if !sleep(ctx, lookEvery) {
			return b.effect(), errors.New("the client sent nothing that could be held")
		}
	}
}

// LostReply lets a server do what it is asked for and drops its answer:
//
//	client --SET NX--> server (done) --OK--> X   client: connection closed, outcome unknown
type LostReply struct{}

var _ Fault = LostReply{}

// Available says whether there is a server.
func (LostReply) Available(s Setting) error { return needsServer(s) }

// Inject lies in wait on every link between the clients and the nodes, lets the client
// that stands at the point go, and returns when an answer was lost.
func (LostReply) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	var b broken
	var traps []*link.Applied
	var names []*link.Link
	for _, c := range t.Clients {
		for _, n := range t.Nodes {
			l := w.Net().Link(c.Name(), n.Name())
			if err := b.apply(l, "loses an answer", func() (*link.Applied, error) {
				a, err := l.LoseReply()
				traps, names = append(traps, a), append(names, l)
				return a, err
			}); err != nil {
				return b.effect(), err
			}
		}
	}
	if t.Hit != nil {
		t.Hit.Go()
	}
	limited, cancel := context.WithTimeout(ctx, max(t.For, w.TTL()))
	defer cancel()
	for {
		for i, a := range traps {
			if text := a.Lost(); text != "" {
				e := b.effect()
				e.Proof = fmt.Sprintf("the answer %q on %s was lost with its connection", text, names[i])
				return e, nil
			}
		}
		if !sleep(limited, lookEvery) {
			return b.effect(), errors.New("no answer that could be lost came in time")
		}
	}
}
