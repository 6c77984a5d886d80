package faults

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Both sides have a master, and each client reaches one side only. The client at the point is
// on the side of the old one.
func TestLeaderIsolate(t *testing.T) {
	l := newLab(t, clustertest.Replicated(3, 3), 4)
	e := l.must("leader-isolate", nemesis.Target{Nodes: l.Nodes()[:1], Hit: &nemesis.Hit{Client: l.client(3)}})
	// 4 clients and 6 servers: 2 x 4 + 2 x 2 links of clients, 2 x 2 x 4 of servers.
	l.says(e.Proof, "28 links between two sides are cut: on one side store-1 with ", "c3", "store-2 was promoted after",
		"both store-1 and store-2 report themselves as master")
	with := strings.Split(strings.Split(e.Proof, "; ")[0], "with ")[1]
	inside := 0
	for _, c := range l.Clients() {
		old, other := l.reaches(c.Name(), "store-1"), l.reaches(c.Name(), "store-2")
		if old == other || old != strings.Contains(with, c.Name()) {
			t.Errorf("%s reaches the old master: %v, the new one: %v; with the old one are %s", c.Name(), old, other, with)
		}
		if old {
			inside++
		}
	}
	if inside != 2 {
		t.Errorf("%d of 4 clients are with the old master", inside)
	}
	if named, err := clustertest.Ask(l.ctx, l.node(4).Addr(), "MASTER"); err != nil || named != l.node(1).Announced() {
		t.Errorf("the supervisor that is with it names %s, %v", named, err)
	}
	l.says(l.heal(e), "links restored: 28")
	l.await("one master", func() bool { return l.node(1).Role() == nemesis.RoleReplica && l.follows(2) == 2 })
	for _, c := range l.Clients() {
		if !l.reaches(c.Name(), "store-1") || !l.reaches(c.Name(), "supervisor-2") {
			t.Errorf("%s is still cut off", c.Name())
		}
	}
}

// Where packets are lost, everybody finds out by himself that nobody answers; the heal says how many there were.
func TestLeaderIsolateLoss(t *testing.T) {
	if link.CanLose() != nil {
		return // TestNoLoss is about such a host
	}
	l := newLab(t, clustertest.Replicated(3, 3), 2)
	e := l.must("leader-isolate:mode=loss", on(l.node(1)))
	l.says(e.Proof, " links between two sides are broken by loss: on one side store-1 with ", "store-2 was promoted after",
		"both store-1 and store-2 report themselves as master")
	l.says(l.heal(e), "links restored: ", "; packets lost: ")
	l.await("one master", func() bool { return l.node(1).Role() == nemesis.RoleReplica && l.follows(2) == 2 })
}

// Without a hit, half of the clients are with the master.
func TestIsolated(t *testing.T) {
	l := newLab(t, clustertest.Replicated(1, 2), 3)
	for draw := range uint64(20) {
		inside := isolated(l, nemesis.Target{Nodes: l.Nodes()[:1], Draw: draw})
		clients := 0
		for _, c := range l.Clients() {
			if inside[c.Name()] {
				clients++
			}
		}
		if clients != 1 || len(inside) != 3 || !inside["store-1"] || !inside["supervisor-1"] || inside["supervisor-2"] {
			t.Errorf("inside are %v", inside)
		}
	}
}

// Nobody is promoted, or the old master does not take itself for one: there is no split brain,
// and all links carry again.
func TestLeaderIsolateInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 2)
	e, err := l.inject("leader-isolate", on(l.node(2)))
	l.fails(e, err, "this fault acts only on the master (store-1), but its targets include another server")
	e, err = injectLeaderIsolate(l.ctx, stuckFleet{l}, on(l.node(1)))
	l.fails(e, err, errNobody.Error())
	l.givesUp("leader-isolate", on(l.node(1)), "no other server was promoted to replace store-1")
	for _, c := range l.Clients() {
		if !l.reaches(c.Name(), "store-1") || !l.reaches(c.Name(), "store-2") {
			t.Errorf("%s is cut off", c.Name())
		}
	}
}

// wrongFleet takes a replica for the master, and the master for its heir.
type wrongFleet struct{ *lab }

func (w wrongFleet) Fleet() nemesis.Fleet { return mistaken{noPromotion{w.lab}} }

type mistaken struct{ noPromotion }

func (m mistaken) Master(context.Context) (nemesis.Node, error) { return m.lab.node(2), nil }

func (m mistaken) Promoted(context.Context, string) (nemesis.Node, error) {
	return m.lab.node(1), nil
}

// One that does not take itself for the master is no second one.
func TestLeaderIsolateThatIsNone(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 1), 1)
	e, err := injectLeaderIsolate(l.ctx, wrongFleet{l}, on(l.node(2)))
	l.fails(e, err, "there is no split brain: store-2 is isolated, but no longer reports itself as master (its role is replica)")
	if !l.reaches("c1", "store-1") || !l.reaches("c1", "store-2") {
		t.Error("the client is cut off")
	}
}

func TestLeaderIsolatePlans(t *testing.T) {
	cannot(t, leaderIsolate().Fault, map[string]func(*nemesis.Setting){withoutFleet: nobodyRules})
	planned(t, map[string]string{
		"isolate-master:at=acquired": "", "leader-isolate:at=acquired,grant=all": "",
		"leader-isolate:nodes=granted": "use nodes=master",
		"leader-isolate:mode=hold":     "", "leader-isolate:mode=latency": "does not separate the two sides",
		"leader-isolate:mode=loss,way=to": "does not separate the two sides",
		"leader-isolate:mode=melt":        "mode=melt: choose cut",
	})
}
