package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// What the client asks for is done at once; that it was done it learns when the fault is over.
func TestWatchDelay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 2)
	e := l.must("watch-delay", nemesis.Target{Clients: l.Clients()[:1], Nodes: l.Nodes()})
	l.says(e.Proof, "c1->store-1 holds back the data that store-1 sends")
	done := make(chan error, 1)
	go func() {
		_, err := l.ask("c1", "store-1", "SETNX", "k", "c1")
		done <- err
	}()
	l.await("the write", func() bool { return l.has(1, "k") })
	select {
	case err := <-done:
		t.Errorf("the answer has come: %v", err)
	default:
	}
	if _, err := l.ask("c2", "store-1", "ROLE"); err != nil {
		t.Errorf("another client: %v", err)
	}
	l.says(l.heal(e), "links restored: 1")
	l.check(<-done)
}

func TestWatchDelayPlans(t *testing.T) {
	cannot(t, watchDelay().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer})
	planned(t, map[string]string{"watch-delay:clients=all,at=waiting": "", "watch-delay:mode=cut": `has no parameter "mode"`})
}
