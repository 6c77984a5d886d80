package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

func TestClientPause(t *testing.T) {
	l := newLab(t, clustertest.Single(), 3)
	e := l.must("client-pause", of(l.client(1), l.client(2)))
	l.says(e.Proof, "c1 paused (SIGSTOP, pid ", "; c2 paused (SIGSTOP, pid ", "threads stopped)")
	for i, want := range []bool{true, true, false} {
		if pid := l.client(i + 1).Pid(); stopped(t, pid) != want {
			t.Errorf("threads of c%d: %s", i+1, threads(t, pid))
		}
	}
	l.says(l.heal(e), "c1 resumed (SIGCONT, pid ", "; c2 resumed (SIGCONT, pid ")
	for i := range 3 {
		if stopped(t, l.client(i+1).Pid()) {
			t.Errorf("c%d does not run again", i+1)
		}
	}
}

// One that is dead cannot be paused. What was paused before it goes on, and a client that
// another fault holds stays stopped.
func TestClientPauseOfTheDead(t *testing.T) {
	l := newLab(t, clustertest.Single(), 3)
	other := l.must("client-pause", of(l.client(3)))
	l.check(l.client(2).Process.Kill(l.ctx))
	e, err := l.inject("client-pause", of(l.client(1), l.client(2), l.client(3)))
	l.fails(e, err, "the process has ended")
	if stopped(t, l.client(1).Pid()) {
		t.Error("c1 stays stopped")
	}
	if !stopped(t, l.client(3).Pid()) {
		t.Error("the heal resumed c3, which another fault holds")
	}
	l.heal(other)
	if stopped(t, l.client(3).Pid()) {
		t.Error("c3 stays stopped")
	}
}

// Two pauses of one client: it goes on with the second heal.
func TestClientPauseTwice(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	first, second := l.must("client-pause", of(l.client(1))), l.must("client-pause", of(l.client(1)))
	l.says(l.heal(first), "c1 stays stopped, because another pause is still active")
	if !stopped(t, l.client(1).Pid()) {
		t.Error("it goes on while the other pause lasts")
	}
	l.says(l.heal(second), "c1 resumed")
}

// What another fault killed meanwhile needs no healing.
func TestClientPauseThenKill(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	e := l.must("client-pause", of(l.client(1)))
	l.check(l.client(1).Process.Kill(l.ctx))
	l.says(l.heal(e), "c1 was killed by another fault during the pause, so there is nothing to resume")
}

func TestClientPausePlans(t *testing.T) {
	cannot(t, clientPause().Fault, nil)
	if err := clientPause().Fault.Available(nemesis.Setting{}); err != nil {
		t.Errorf("it needs nothing: %v", err)
	}
	planned(t, map[string]string{
		"client-pause:for=2ttl,clients=half,at=waiting": "", "client-pause:clients=c1+c3": "", "client-pause:clients=holder": "",
		"client-pause:for=2": "for=2 is not a length", "client-pause:nodes=1": `no parameter "nodes"`,
		"client-pause:clients=master": `nothing is named "master" at the start of the run`,
	})
}
