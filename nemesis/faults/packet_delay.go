package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

func packetDelay() nemesis.Spec {
	return nemesis.Spec{
		Name: "packet-delay", Doc: "holds back a client's requests to the protected data and delivers them later, in order " +
			"(Kleppmann's delayed write, 2016)",
		Notes:  "The client isn't stopped at `at`: its write is held back.",
		Proven: "At least one byte is held back; the record says how many.",
		End:    "The held bytes are delivered.",
		Family: history.FamilyLink, Whom: nemesis.Clients, Links: nemesis.ToRegister, Delays: true,
		Fault:   fault{canPacketDelay, injectPacketDelay},
		Strikes: func(int, []string) string { return history.AtBeforeWrite }, Params: nemesis.ClientParams("1.5ttl", "2.5ttl"),
	}
}

// canPacketDelay says whether clients send anything to the resource.
func canPacketDelay(s nemesis.Setting) error {
	return lack(s.Resource,
		"this fault delays requests to lockstorm's own registers, which this run does not use: the workload has no data, or "+
			"its data is in another store (--register) or written by the lock")
}

// injectPacketDelay holds what clients send to the resource, and delivers it at the heal:
//
//	client --[check]--write--> (held ... ttl ... held) --> register
//
// The client is alive and did everything right: its write is late.
// It holds the way to the register, lets the client that stands at the point go, and
// returns when a request is being held.
func injectPacketDelay(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var b broken
	held := map[string]*link.Applied{}
	for _, c := range t.Clients {
		l := w.Net().Link(c.Name(), history.PartyRegister)
		if err := b.apply(l, "holds requests back", func() (*link.Applied, error) {
			a, err := l.Hold(link.To)
			held[c.Name()] = a
			return a, err
		}); err != nil {
			return b.effect(), err
		}
	}
	if t.Hit != nil {
		t.Hit.Go()
	}
	var proofs []string
	err := nemesis.Until(ctx, func() (bool, error) {
		for _, c := range t.Clients {
			if n := held[c.Name()].Held(); n > 0 {
				proofs = append(proofs, fmt.Sprintf("%d bytes from %s to the register are being held back", n, c.Name()))
			}
		}
		return len(proofs) > 0, nil
	})
	if err != nil {
		return b.effect(), errors.New("the client sent no request that the fault could hold back")
	}
	e := b.effect()
	e.Proof = strings.Join(proofs, "; ")
	return e, nil
}
