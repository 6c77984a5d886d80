package faults

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// follows reports how many replicas the master has.
func (l *lab) follows(i int) int {
	l.t.Helper()
	n, err := l.store(i).Followers(l.ctx)
	l.check(err)
	return n
}

// The replicas are cut off, by the master's own word; supervisors and clients are not.
func TestPartitionReplication(t *testing.T) {
	l := newLab(t, clustertest.Replicated(3, 1), 1)
	e := l.must("partition-replication", on(l.node(1)))
	l.says(e.Proof, "store-2->store-1: new connections are closed at once (number of connections that lockstorm closed: 1)",
		"store-3->store-1: ", "store-1 has no replica left")
	l.check(l.store(1).Set(l.ctx, "k", "c1"))
	if l.has(2, "k") || l.has(3, "k") || !l.reaches("c1", "store-1") {
		t.Error("replicas have what the master was told, or a client is cut off")
	}
	if m, err := l.Fleet().Master(l.ctx); err != nil || m.Name() != "store-1" {
		t.Errorf("the master is %v, %v", m, err)
	}
	l.says(l.heal(e), "links restored: 2")
	l.await("replication", func() bool { return l.follows(1) == 2 && l.has(2, "k") && l.has(3, "k") })
}

// What is held is replicated late.
func TestPartitionReplicationHold(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 0), 0)
	e := l.must("partition-replication:mode=hold", on(l.node(1)))
	l.says(e.Proof, "store-2->store-1 holds all data back, on every open connection (1)")
	l.check(l.store(1).Set(l.ctx, "k", "c1"))
	if ok, text, err := l.store(1).InSync(l.ctx, 1); err != nil || ok || l.has(2, "k") {
		t.Errorf("it was replicated: %s, %v", text, err)
	}
	l.heal(e)
	l.await("replication", func() bool { return l.has(2, "k") })
}

// Who has no replica, or cannot say so, cannot lose one.
func TestPartitionReplicationInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 1), 0)
	for want, n := range map[string]nemesis.Node{
		"store-2 has no replica that could be cut off: use nodes=master": l.node(2),
		"server supervisor-1 does not report its replicas":               l.node(3),
	} {
		e, err := l.inject("partition-replication", on(n))
		l.fails(e, err, want)
	}
	l.check(l.node(1).Kill(l.ctx))
	e, err := l.inject("partition-replication", on(l.node(1)))
	l.fails(e, err, "connection refused")
}

// A master that does not notice is no proof, and its replicas come back.
func TestPartitionReplicationUnseen(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 0), 0)
	l.givesUp("partition-replication", on(blind{l.node(1)}), "store-1 still reports connected replicas: 1 (expected: 0)")
	l.await("replica", func() bool { return l.follows(1) == 1 })
}

func TestPartitionReplicationPlans(t *testing.T) {
	cannot(t, partitionReplication().Fault, map[string]func(*nemesis.Setting){
		"the servers of topology t do not replicate: this fault needs a topology with replicas": func(s *nemesis.Setting) {
			s.Peers = false
		},
	})
	planned(t, map[string]string{
		"partition-replication:mode=blackhole,at=random": "",
		"partition-replication:mode=melt":                "mode=melt: choose cut",
	})
}

// blind takes its replicas for connected, whatever happens.
type blind struct{ labNode }

func (b blind) Admin() any { return seesOne{} }

type seesOne struct{}

func (seesOne) Followers(context.Context) (int, error) { return 1, nil }

func (seesOne) InSync(context.Context, int) (bool, string, error) { return true, "all is well", nil }
