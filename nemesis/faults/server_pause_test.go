package faults

import (
	"strconv"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// pid is the process of a server, by its own word.
func (l *lab) pid(i int) int {
	l.t.Helper()
	text, err := clustertest.Ask(l.ctx, l.node(i).Addr(), "PID")
	l.check(err)
	pid, err := strconv.Atoi(text)
	l.check(err)
	return pid
}

// What a client sends to a stopped server is carried out after the heal.
func TestServerPause(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 1)
	one, two := l.pid(1), l.pid(2)
	e := l.must("server-pause", on(l.node(1)))
	l.says(e.Proof, "store-1 paused (SIGSTOP, pid ", "threads stopped)")
	if !stopped(t, one) || stopped(t, two) {
		t.Errorf("threads %s and %s", threads(t, one), threads(t, two))
	}
	answered := make(chan error, 1)
	go func() {
		_, err := l.ask("c1", "store-1", "SETNX", "k", "c1")
		answered <- err
	}()
	l.await("connection", func() bool { return l.net.Link("c1", "store-1").Open() > 0 })
	l.says(l.heal(e), "resumed (SIGCONT, pid ")
	if err := <-answered; err != nil || !l.has(1, "k") {
		t.Errorf("what was sent to the stopped server: %v", err)
	}
}

// A server that is dead, or cannot be paused, is in the way: the others go on.
func TestServerPauseInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 0)
	one := l.pid(1)
	e, err := l.inject("server-pause", on(l.node(1), bare{"rock"}))
	l.fails(e, err, "lockstorm cannot pause server rock")
	l.check(l.node(2).Kill(l.ctx))
	e, err = l.inject("server-pause", on(l.node(1), l.node(2)))
	l.fails(e, err, "the process has ended")
	if stopped(t, one) {
		t.Error("store-1 stays stopped")
	}
}

// All targets are stopped, and all go on.
func TestServerPauseOfAll(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 0)
	pids := []int{l.pid(1), l.pid(2)}
	e := l.must("server-pause:nodes=all", on(l.Nodes()...))
	for _, pid := range pids {
		if !stopped(t, pid) {
			t.Errorf("threads %s", threads(t, pid))
		}
	}
	l.heal(e)
	for _, pid := range pids {
		if stopped(t, pid) {
			t.Error("one stays stopped")
		}
	}
}

// A server that was restarted meanwhile runs already.
func TestServerPauseThenRestart(t *testing.T) {
	l := newLab(t, clustertest.Single(), 0)
	e := l.must("server-pause", on(l.node(1)))
	l.must("server-restart", on(l.node(1)))
	l.heal(e)
	if stopped(t, l.pid(1)) {
		t.Error("it does not run")
	}
}

func TestServerPausePlans(t *testing.T) {
	cannot(t, serverPause().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer})
	planned(t, map[string]string{
		"server-pause:nodes=master,for=200ms": "", "server-pause:nodes=sentinel-1": "", "server-pause:stay=0s": "",
		"server-pause:nodes=4": "nodes=4: choose from 1 to 3", "server-pause:stay=x": "stay=x is not a length of time",
		"server-pause:grant=7": "grant=7: choose any, all, or a number from 1 to 6",
	})
}
