package faults

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The server is down until the heal, and has lost what it kept in memory.
func TestServerKill(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 1)
	l.check(l.store(1).Set(l.ctx, "k", "c1"))
	e := l.must("server-kill", on(l.node(1)))
	l.says(e.Proof, "store-1 died of SIGKILL")
	if !slices.Equal(l.kills, []string{"store-1"}) {
		t.Errorf("on record are %v", l.kills)
	}
	if l.reaches("c1", "store-1") || l.node(1).Role() != "down" || !l.reaches("c1", "store-2") {
		t.Error("it is not down, or not alone")
	}
	l.says(l.heal(e), "store-1 (pid", "has restarted as pid")
	if !l.reaches("c1", "store-1") || l.has(1, "k") {
		t.Error("it does not serve again, or has kept something")
	}
}

// What cannot be killed is said, and those that were killed are started again.
func TestServerKillInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	e, err := l.inject("server-kill", on(l.node(1), bare{"rock"}))
	l.fails(e, err, "lockstorm cannot restart server rock")
	if !l.reaches("c1", "store-1") {
		t.Error("store-1 stays dead")
	}
}

// Two kills of one server: the second heal finds it started.
func TestServerKillTwice(t *testing.T) {
	l := newLab(t, clustertest.Single(), 0)
	first, second := l.must("server-kill", on(l.node(1))), l.must("server-kill", on(l.node(1)))
	l.says(l.heal(second), "answers again")
	l.says(l.heal(first), "store-1 is already running, because another fault started it again")
}

func TestServerKillPlans(t *testing.T) {
	cannot(t, serverKill().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer})
	planned(t, map[string]string{
		"server-kill:nodes=all,for=1s": "", "server-kill:clients=c1": "",
		"server-kill:clients=1": "clients= must list the clients whose steps trigger the fault",
	})
}
