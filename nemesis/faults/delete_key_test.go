package faults

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The key of the lock goes, others stay. Where there is none, the fault waits for one.
func TestDeleteKey(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 0)
	l.check(l.store(1).Set(l.ctx, labLock, "c1"))
	l.check(l.store(1).Set(l.ctx, "another", "c1"))
	e := l.must("delete-key", on(l.node(1)))
	if e.Proof != "store-1 deleted 1 of the lock's keys (lock-0)" || e.Heal != nil || l.has(1, labLock) || !l.has(1, "another") {
		t.Errorf("proof %q", e.Proof)
	}
	const waits = 50 * time.Millisecond
	done, asked := make(chan struct{}), l.Now()
	go func() {
		defer close(done)
		e = l.must("delete-key", nemesis.Target{Nodes: l.Nodes()[1:], Hit: &nemesis.Hit{Lock: labLock}})
	}()
	// There is nothing to delete until the run's clock, by which it says when it began, has gone on.
	l.check(nemesis.Until(l.ctx, func() (bool, error) { return l.Now() >= asked+waits.Nanoseconds(), nil }))
	l.check(l.store(2).Set(l.ctx, labLock, "c2"))
	<-done
	if e.Proof != "store-2 deleted 1 of the lock's keys (lock-0)" || l.has(2, labLock) {
		t.Errorf("proof %q", e.Proof)
	}
	if e.Began < asked+(waits/2).Nanoseconds() {
		t.Errorf("asked for at %d, it began at %d, before there was a key", asked, e.Began)
	}
}

func TestDeleteKeyInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(1, 1), 0)
	l.givesUp("delete-key", on(l.node(1)), "until the time limit the server had none of the lock's keys (lock-0), so there was "+
		"nothing to delete")
	e, err := l.inject("delete-key", on(l.node(2)))
	l.fails(e, err, "node supervisor-1 stores no keys")
	l.check(l.node(1).Kill(l.ctx))
	e, err = l.inject("delete-key", on(l.node(1)))
	l.fails(e, err, "connection refused")
}

func TestDeleteKeyPlans(t *testing.T) {
	cannot(t, deleteKey().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer, withoutKeys: noKeys})
	planned(t, map[string]string{"delete-key:nodes=replica,at=random": "", "delete-key:policy=any": `has no parameter "policy"`})
}
