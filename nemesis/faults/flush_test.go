package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

func TestFlush(t *testing.T) {
	l := newLab(t, clustertest.Several(3), 0)
	for i := range 3 {
		l.check(l.store(i+1).Set(l.ctx, labLock, "c1"))
	}
	l.check(l.store(2).Set(l.ctx, "more", "c1"))
	e := l.must("flush", on(l.node(1), l.node(2)))
	if e.Proof != "store-1 deleted all of its 1 keys; store-2 deleted all of its 2 keys" || e.Heal != nil {
		t.Errorf("proof %q, and a heal: %v", e.Proof, e.Heal != nil)
	}
	if l.has(1, labLock) || l.has(2, labLock) || !l.has(3, labLock) {
		t.Error("a key is still there, or that of another server is not")
	}
}

func TestFlushInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(1, 1), 0)
	e, err := l.inject("flush", on(l.node(2)))
	l.fails(e, err, "node supervisor-1 cannot delete its data")
	l.check(l.node(1).Kill(l.ctx))
	e, err = l.inject("flush", on(l.node(1)))
	l.fails(e, err, "store-1: ")
}

func TestFlushPlans(t *testing.T) {
	cannot(t, flush().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer, withoutStore: noStore})
	planned(t, map[string]string{"flush:nodes=all,at=releasing": "", "flush:for=1s": `has no parameter "for"`})
}
