package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The connection of the client at the point ends, on whichever server knows it; others stay.
func TestKillConnection(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 2)
	l.check(l.set(2, "7"))
	l.check(l.set(2, "8"))
	hit := &nemesis.Hit{Client: l.client(1), Lock: "L1", Connection: "7"}
	e := l.must("kill-connection", nemesis.Target{Clients: l.Clients()[:1], Hit: hit})
	if e.Proof != "server store-2 ended the connection 7 of client c1, which held lock L1" || e.Heal != nil {
		t.Errorf("proof %q", e.Proof)
	}
	if l.has(2, "7") || !l.has(2, "8") {
		t.Error("the wrong connection has ended")
	}
}

// Without a connection there is nothing to end, and one that nobody knows has not been ended.
func TestKillConnectionInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	for _, hit := range []*nemesis.Hit{nil, {Client: l.client(1)}} {
		e, err := l.inject("kill-connection", nemesis.Target{Clients: l.Clients(), Hit: hit})
		l.fails(e, err, "the client does not hold the lock at the moment of the fault")
	}
	e, err := l.inject("kill-connection", nemesis.Target{
		Clients: l.Clients(),
		Hit:     &nemesis.Hit{Client: l.client(1), Connection: "7"},
	})
	l.fails(e, err, "store-1: there is no connection 7")
}

func TestKillConnectionPlans(t *testing.T) {
	cannot(t, killConnection().Fault, map[string]func(*nemesis.Setting){
		withoutServer: noServer,
		"backend b on topology t has no grants that end with their connection, or no servers that can " +
			"end it": func(s *nemesis.Setting) {
			s.Connections = false
		},
	})
	planned(t, map[string]string{"kill-connection:at=before-release": "", "kill-connection:for=1s": `has no parameter "for"`})
}
