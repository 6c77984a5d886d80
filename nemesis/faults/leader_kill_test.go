package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The leader is dead until another one is in its place, and follows when it is back.
func TestLeaderKill(t *testing.T) {
	l := newLab(t, clustertest.Replicated(3, 3), 1)
	e := l.must("leader-kill", on(l.node(1)))
	l.says(e.Proof, "store-1 died of SIGKILL; store-2 was promoted after ")
	if role := l.node(1).Role(); role != history.RoleDown {
		t.Errorf("the old leader is %s", role)
	}
	l.says(l.heal(e), "has restarted as pid ")
	l.await("demotion", func() bool { return l.node(1).Role() == nemesis.RoleReplica })
}

// Nobody but the leader is killed; without a promotion it is started again.
func TestLeaderKillInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 0)
	e, err := l.inject("leader-kill", on(l.node(2)))
	l.fails(e, err, "this fault acts only on the master (store-1), but its targets include another server")
	e, err = leaderKill().Fault.Inject(l.ctx, stuckFleet{l}, on(l.node(1)))
	l.fails(e, err, errNobody.Error())
	if l.node(1).Role() == history.RoleDown {
		t.Error("the leader stays dead")
	}
}

func TestLeaderKillPlans(t *testing.T) {
	cannot(t, leaderKill().Fault, map[string]func(*nemesis.Setting){withoutFleet: nobodyRules})
	planned(t, map[string]string{
		"leader-kill:at=before-write,stay=0.5ttl": "", "leader-kill:nodes=leader": "",
		"leader-kill:nodes=follower": "use nodes=master",
	})
}
