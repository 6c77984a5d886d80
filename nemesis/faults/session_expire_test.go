package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The session of the client at the point ends, on whichever server knows it; others stay.
func TestSessionExpire(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 2)
	l.check(l.set(2, "0x1"))
	l.check(l.set(2, "0x2"))
	hit := &nemesis.Hit{Client: l.client(1), Lock: "L1", Lease: "0x1"}
	e := l.must("session-expire", nemesis.Target{Clients: l.Clients()[:1], Hit: hit})
	if e.Proof != "server store-2 ended the session 0x1 of client c1, which held lock L1" || e.Heal != nil {
		t.Errorf("proof %q", e.Proof)
	}
	if l.has(2, "0x1") || !l.has(2, "0x2") {
		t.Error("the wrong session has ended")
	}
}

// Without a lease there is nothing to end, and a session that nobody knows has not been ended.
func TestSessionExpireInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	for _, hit := range []*nemesis.Hit{nil, {Client: l.client(1)}} {
		e, err := l.inject("session-expire", nemesis.Target{Clients: l.Clients(), Hit: hit})
		l.fails(e, err, "the client does not hold the lock at the moment of the fault")
	}
	e, err := l.inject("session-expire", nemesis.Target{Clients: l.Clients(), Hit: &nemesis.Hit{Client: l.client(1), Lease: "0x1"}})
	l.fails(e, err, "store-1: there is no session 0x1")
}

func TestSessionExpirePlans(t *testing.T) {
	cannot(t, sessionExpire().Fault, map[string]func(*nemesis.Setting){
		withoutServer: noServer,
		"backend b on topology t has no grants that end with a session, or no servers that can end it (for adapters see \"opened\" " +
			"and \"session\" in docs/adapters.md)": func(s *nemesis.Setting) { s.Sessions = false },
	})
	planned(t, map[string]string{"session-expire:at=before-release": "", "session-expire:for=1s": `has no parameter "for"`})
}
