package faults

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The lock of a client is lost for certain: the master dies with it, and another client is
// granted by the replica that never had it.
func TestFailoverKill(t *testing.T) {
	// on a busy host the holder may have come to its end, and be the first one again, or nobody was granted the lock in time
	for range 5 {
		if failsOver(t) {
			return
		}
	}
	t.Error("whoever held the lock was always granted it first")
}

// failsOver kills a master under its holder, and reports whether another client was granted the lock first.
func failsOver(t *testing.T) (another bool) {
	l := newLab(t, clustertest.Replicated(3, 3), 3)
	l.work()
	l.await("work", func() bool { return l.grantsAt("store-1") > 2 && l.follows(1) == 2 })
	asked := l.Now()
	e := l.must("failover-kill", on(l.node(1)))
	if e.Began <= asked || e.Began >= l.Now() {
		t.Errorf("asked for at %d, it began at %d", asked, e.Began)
	}
	if strings.Contains(e.Proof, "no client was granted the lock within one ttl") {
		l.heal(e)
		return false
	}
	l.says(e.Proof, "store-1 died of SIGKILL while c", " held the lock; the key lock-0 was never on store-2, store-3; store-2 was "+
		"promoted after ")
	if !slices.Equal(l.kills, []string{"store-1"}) || !l.node(1).Down() {
		t.Errorf("on record are kills of %v", l.kills)
	}
	l.await("grant by the new master", func() bool { return l.grantsAt("store-2") > 0 })
	holder := strings.Fields(strings.SplitAfter(e.Proof, "while ")[1])[0]
	l.mu.Lock()
	heir := l.grants[slices.IndexFunc(l.grants, func(g labGrant) bool { return g.node == "store-2" })]
	l.mu.Unlock()
	l.says(l.heal(e), "links restored: 2; store-1 (pid", "answers again")
	l.await("demotion", func() bool { return l.node(1).Role() == nemesis.RoleReplica && l.follows(2) == 2 })
	before := l.grantsAt("store-2")
	l.await("work", func() bool { return l.grantsAt("store-2") > before+2 })
	return heir.client != holder
}

// A lock that nobody is granted is lost by nobody, and that is said.
func TestFailoverKillWithoutAGrant(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 2)
	l.check(l.store(1).Set(l.ctx, labLock, "another"))
	l.work()
	e := l.must("failover-kill", on(l.node(1)))
	l.says(e.Proof, "store-1 died of SIGKILL, but no client held the lock, because no client was granted the lock within one ttl; "+
		"store-2 was promoted")
	l.heal(e)
}

// What is in the way is said, the clients go on and replication is as it was.
func TestFailoverKillInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 2)
	e, err := l.inject("failover-kill", on(l.node(2)))
	l.fails(e, err, "this fault acts only on the master (store-1), but its targets include another server: use nodes=master")
	l.givesUp("failover-kill", on(l.node(1)), "some clients did not reach the point before-acquire in time")
	l.work()
	l.check(l.node(2).Kill(l.ctx))
	l.await("loss of the replica", func() bool { return l.follows(1) == 0 })
	e, err = l.inject("failover-kill", on(l.node(1)))
	l.fails(e, err, "store-1 has no replica that could take the place of a dead master")
	before := l.grantsAt("store-1")
	l.await("work", func() bool { return l.grantsAt("store-1") > before+2 })
}

// Without clients there is nobody who could lose a lock.
func TestFailoverKillWithoutClients(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 0)
	e, err := l.inject("failover-kill", on(l.node(1)))
	l.fails(e, err, "there is no client that could acquire the lock")
}

// Replicas that do not catch up, and a promotion that does not come, are no fault of a lock:
// the master is left alone, or started again.
func TestFailoverKillGivesUp(t *testing.T) {
	l := newLab(t, clustertest.Replicated(2, 3), 1)
	l.work()
	held := l.must("partition-replication:mode=hold", on(l.node(1)))
	l.check(l.store(1).Set(l.ctx, "k", "c1"))
	l.givesUp("failover-kill", on(l.node(1)), "the replicas do not catch up with the master: 0 of 1 replicas have all data of "+
		"the master")
	if l.node(1).Down() {
		t.Error("the master was killed")
	}
	l.heal(held)
	l.await("replication", func() bool { return l.has(2, "k") })
	for i := 3; i <= 5; i++ {
		_, err := l.node(i).Pause(l.ctx)
		l.check(err)
	}
	stuck := stuckFleet{l}
	e, err := injectFailoverKill(l.ctx, stuck, on(l.node(1)))
	l.fails(e, err, errNobody.Error())
	if l.node(1).Down() {
		t.Error("the master stays dead")
	}
}

var errNobody = errors.New("nobody was promoted")

// stuckFleet is a world in which nobody is promoted.
type stuckFleet struct{ *lab }

func (s stuckFleet) Fleet() nemesis.Fleet { return noPromotion{s.lab} }

type noPromotion struct{ lab *lab }

func (n noPromotion) Master(context.Context) (nemesis.Node, error) { return n.lab.node(1), nil }

func (n noPromotion) FailOver(context.Context) error { return nil }

func (n noPromotion) Promoted(context.Context, string) (nemesis.Node, error) { return nil, errNobody }

// A new master that had the key lost nothing: that is no proof.
func TestFailoverKillOfAnHeirWithTheKey(t *testing.T) {
	l := newLab(t, clustertest.Several(3), 1)
	k := &failoverKill{w: l, master: l.node(1), holder: &nemesis.Hit{Client: l.client(1), Lock: labLock, Go: func() {}}}
	l.check(l.set(2, labLock))
	lacking, err := k.lacking(l.ctx)
	if err != nil || !slices.Equal(lacking, []string{"store-3"}) {
		t.Fatalf("the key is not on %v, %v", lacking, err)
	}
	if _, err := k.proof("killed", "promoted", l.node(2), lacking); err == nil || err.Error() != "the fault did not work: the "+
		"promoted server store-2 already had the key of c1, so the lock was not lost" {
		t.Errorf("error %v", err)
	}
	if text, err := k.proof("killed", "promoted", l.node(3), lacking); err != nil || text != "killed while c1 held the lock; the "+
		"key lock-0 was never on store-3; promoted" {
		t.Errorf("proof %q, %v", text, err)
	}
}

func TestFailoverKillPlans(t *testing.T) {
	cannot(t, failoverKillSpec().Fault, map[string]func(*nemesis.Setting){withoutFleet: nobodyRules})
	const leave = "this fault acts only on the master: use nodes=master"
	planned(t, map[string]string{
		"failover-kill:every=6s,for=1s": "", "failover-kill:nodes=redis-1": "",
		"failover-kill:nodes=all": leave, "failover-kill:nodes=1": leave, "failover-kill:at=acquired": `has no parameter "at"`,
		"failover-kill:for=29s": "the fault takes 33.5s, which is too long for a run of 30s",
	})
}
