package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// What the client at the point sends to the resource is held, and arrives at the heal; its way
// to the servers is free.
func TestPacketDelay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 2)
	c := l.openConn("c1", history.PartyRegister)
	hit := &nemesis.Hit{Client: l.client(1), Point: "before-write", Go: func() { l.send(c, "SETNX k c1") }}
	e := l.must("packet-delay", nemesis.Target{Clients: l.Clients()[:1], Hit: hit})
	l.says(e.Proof, "11 bytes from c1 to the register are being held")
	if l.has(1, "k") || !l.reaches("c1", "store-1") || !l.reaches("c2", history.PartyRegister) {
		t.Error("it was delivered, or more than that is held")
	}
	l.heal(e)
	if text, err := l.line(c, testLimit); err != nil || text != "+OK" || !l.has(1, "k") {
		t.Errorf("the answer is %q, %v", text, err)
	}
}

// The proof names those whose bytes are held, and nobody else.
func TestPacketDelayOfTwo(t *testing.T) {
	l := newLab(t, clustertest.Single(), 2)
	c := l.openConn("c2", history.PartyRegister)
	hit := &nemesis.Hit{Client: l.client(2), Go: func() { l.send(c, "SETNX k c2") }}
	e := l.must("packet-delay:clients=2", nemesis.Target{Clients: l.Clients(), Hit: hit})
	if e.Proof != "11 bytes from c2 to the register are being held back" {
		t.Errorf("proof %q", e.Proof)
	}
	l.heal(e)
}

// A client that sends nothing proves nothing.
func TestPacketDelayInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	l.givesUp("packet-delay", of(l.client(1)), "the client sent no request that the fault could hold back")
	if !l.reaches("c1", history.PartyRegister) {
		t.Error("its way is still held")
	}
}

func TestPacketDelayPlans(t *testing.T) {
	cannot(t, packetDelay().Fault, map[string]func(*nemesis.Setting){
		"this fault delays requests to lockstorm's own registers, which this run does not use: the workload has no data, or its data " +
			"is in another store (--register) or written by the lock": func(s *nemesis.Setting) { s.Resource = false },
	})
	planned(t, map[string]string{"packet-delay:for=2ttl,nth=3": "", "packet-delay:mode=hold": `no parameter "mode"`})
}
