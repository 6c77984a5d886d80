package faults

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The lock of a client is lost for certain: the master dies with it, and the replica that never had
// it is promoted; the old master comes back as its replica, and has everything.
func TestPromoteReplica(t *testing.T) {
	l := newLab(t, clustertest.Pair(), 3)
	l.work()
	l.await("work", func() bool { return l.grantsAt("store-1") > 2 })
	e := l.must("promote-replica", on(l.node(1)))
	l.says(e.Proof, "store-1 died of SIGKILL while c", " held the lock; the key lock-0 was never on store-2; store-2 was promoted "+
		"to master, and accepts writes after ")
	if !slices.Equal(l.kills, []string{"store-1"}) || !l.node(1).Down() {
		t.Errorf("on record are kills of %v", l.kills)
	}
	l.await("grant by the new master", func() bool { return l.grantsAt("store-2") > 0 })
	l.says(l.heal(e), "links restored: 1; store-1 (pid", "this server is now a follower, and lockstorm has deleted its old data; "+
		"1 of 1 replicas have all data of the master")
	if l.node(1).Role() != nemesis.RoleReplica || l.node(2).Role() != history.RoleMaster {
		t.Errorf("they are %s and %s", l.node(1).Role(), l.node(2).Role())
	}
	before := l.grantsAt("store-2")
	l.await("work", func() bool { return l.grantsAt("store-2") > before+2 })
}

// What is in the way is said, and nobody is killed.
func TestPromoteReplicaInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Pair(), 1)
	e, err := l.inject("promote-replica", on(l.node(2)))
	l.fails(e, err, "this fault acts only on the master (store-1), but its targets include another server: use nodes=master")
	l.check(l.node(2).Kill(l.ctx))
	e, err = l.inject("promote-replica", on(l.node(1)))
	l.fails(e, err, "this fault needs exactly one master and one replica, but store-2 reports itself as down")
	if l.node(1).Down() {
		t.Error("the master was killed")
	}
}

func TestPromoteReplicaPlans(t *testing.T) {
	cannot(t, promoteReplica().Fault, map[string]func(*nemesis.Setting){
		"topology t has no replica that lockstorm could promote": func(s *nemesis.Setting) { s.Promotes = false },
	})
	const leave = "this fault acts only on the master: use nodes=master"
	planned(t, map[string]string{
		"promote-replica:every=6s,for=1s": "", "promote-replica:nodes=all": leave,
		"promote-replica:at=acquired": `has no parameter "at"`,
	})
}
