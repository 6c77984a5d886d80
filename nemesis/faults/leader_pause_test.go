package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The master is stopped until another one is in its place. Resumed, it has a role of its own
// until it is told.
func TestLeaderPause(t *testing.T) {
	l := newLab(t, clustertest.Replicated(3, 3), 1)
	pid := l.pid(1)
	e := l.must("leader-pause", on(l.node(1)))
	l.says(e.Proof, "store-1 paused (SIGSTOP, pid ", "threads stopped); store-2 was promoted after ")
	if !stopped(t, pid) {
		t.Errorf("threads of the old master: %s", threads(t, pid))
	}
	if m, err := l.Fleet().Master(l.ctx); err != nil || m.Name() != "store-2" || m.Role() != nemesis.RoleMaster {
		t.Errorf("the master is %v, %v", m, err)
	}
	l.says(l.heal(e), "resumed (SIGCONT, pid ")
	l.await("demotion", func() bool { return l.node(1).Role() == nemesis.RoleReplica })
}

// Nobody but the master is stopped; without a promotion it goes on.
func TestLeaderPauseInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 0)
	one, two := l.pid(1), l.pid(2)
	for _, target := range []nemesis.Target{on(l.node(2)), on(l.node(1), l.node(2)), on()} {
		e, err := l.inject("leader-pause", target)
		l.fails(e, err, "this fault acts only on the master (store-1), but its targets include another server")
	}
	e, err := leaderPause().Fault.Inject(l.ctx, stuckFleet{l}, on(l.node(1)))
	if !stopped(t, one) || stopped(t, two) {
		t.Error("the wrong server is stopped")
	}
	l.fails(e, err, errNobody.Error())
	if stopped(t, one) {
		t.Error("the master stays stopped")
	}
}

func TestLeaderPausePlans(t *testing.T) {
	cannot(t, leaderPause().Fault, map[string]func(*nemesis.Setting){withoutFleet: nobodyRules})
	planned(t, map[string]string{
		"failover-pause:at=acquired": "", "leader-pause:at=before-write,stay=0.5ttl": "",
		"leader-pause:nodes=replica": "use nodes=master",
	})
}
