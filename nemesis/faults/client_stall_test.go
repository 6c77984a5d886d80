package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The client stands at its point until the heal; its process runs all the time.
func TestClientStall(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	l.work()
	hit, err := l.Arm(l.ctx, nemesis.Arm{Point: history.AtAcquired})
	l.check(err)
	e := l.must("client-stall", nemesis.Target{Clients: l.Clients(), Hit: hit})
	l.says(e.Proof, "lockstorm has stopped c1 at the point acquired")
	if !l.has(1, labLock) || stopped(t, l.client(1).Pid()) {
		t.Error("it does not hold the lock, or does not run")
	}
	l.says(l.heal(e), "c1 goes on")
	l.await("release", func() bool { return l.grantsAt("store-1") > 1 })
}

func TestClientStallPlans(t *testing.T) {
	cannot(t, clientStall().Fault, nil)
	l := newLab(t, clustertest.Single(), 1)
	e, err := l.inject("client-stall", of(l.client(1)))
	l.fails(e, err, "client-stall can stop a client only at a point: name one with at=")
	planned(t, map[string]string{
		"client-stall:at=random": "", "client-stall:clients=holder": "", "client-stall:clients=c1+c2": "",
		"client-stall:clients=half": "this fault stops only the client that reaches the point",
	})
}
