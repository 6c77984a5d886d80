package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A living master is replaced and follows; what it had, the new one has.
func TestLeaderMove(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 0)
	l.check(l.set(1, "k"))
	l.await("replication", func() bool { return l.has(2, "k") })
	e := l.must("leader-move", on(l.node(1)))
	l.says(e.Proof, "in place of store-1, store-2 was promoted after ")
	if e.Heal != nil {
		t.Error("there is something to heal")
	}
	l.await("demotion", func() bool { return l.node(1).Role() == nemesis.RoleReplica && l.follows(2) == 1 })
	if !l.has(2, "k") || !l.has(1, "k") {
		t.Error("a key is lost")
	}
}

func TestLeaderMoveInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 0)
	e, err := l.inject("leader-move", on(l.node(2)))
	l.fails(e, err, "this fault acts only on the master (store-1), but its targets include another server")
	e, err = injectLeaderMove(l.ctx, stuckFleet{l}, on(l.node(1)))
	l.fails(e, err, errNobody.Error())
	l.check(l.node(2).Kill(l.ctx))
	e, err = l.inject("leader-move", on(l.node(1)))
	l.fails(e, err, "no replica answers")
	for i := 3; i <= 5; i++ {
		l.check(l.node(i).Kill(l.ctx))
	}
	e, err = l.inject("leader-move", on(l.node(1)))
	l.fails(e, err, "no majority of the supervisors agrees on a master")
}

func TestLeaderMovePlans(t *testing.T) {
	cannot(t, leaderMove().Fault, map[string]func(*nemesis.Setting){withoutFleet: nobodyRules})
	planned(t, map[string]string{
		"failover-planned:at=acquired": "", "leader-move:every=3s": "",
		"leader-move:for=1s": `has no parameter "for"`, "leader-move:nodes=all": "use nodes=master",
	})
}
