package faults

import (
	"errors"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
)

// The process is gone, and another client, which reaches the servers, is in its place.
func TestClientKill(t *testing.T) {
	l := newLab(t, clustertest.Single(), 2)
	e := l.must("client-kill", of(l.client(1)))
	l.says(e.Proof, "c1 died of SIGKILL; the new client c3 takes its place")
	if e.Heal != nil {
		t.Error("there is something to heal")
	}
	if !l.client(1).Exited() || l.client(2).Exited() || l.client(3).Exited() {
		t.Error("the wrong ones live")
	}
	if l.reaches("c1", "store-1") || !l.reaches("c3", "store-1") {
		t.Error("the way of the dead is open, or that of the heir is not")
	}
}

func TestClientKillInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 2)
	l.stuck = errors.New("no memory left")
	e, err := l.inject("client-kill", of(l.client(1)))
	l.fails(e, err, "replace c1: no memory left")
	l.client(2).fatal = errors.New("it survives")
	e, err = l.inject("client-kill", of(l.client(2)))
	l.fails(e, err, "it survives")
}

func TestClientKillPlans(t *testing.T) {
	cannot(t, clientKill().Fault, nil)
	planned(t, map[string]string{
		"client-kill:at=waiting,nth=2,clients=2": "", "client-kill:for=1s": `has no parameter "for"`,
		"client-kill:nth=x": "nth=x is not a whole number",
	})
}
