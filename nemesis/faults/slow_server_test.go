package faults

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// counted counts the stops of a node.
type counted struct {
	labNode
	stops *atomic.Int64
}

func (c counted) Pause(ctx context.Context) (string, error) {
	c.stops.Add(1)
	return c.labNode.Pause(ctx)
}

// The server stops and runs in turn until the heal; then it runs.
func TestSlowServer(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	pid, n := l.pid(1), counted{l.node(1), new(atomic.Int64)}
	e := l.must("slow-server:share=0.5,period=10ms", on(n))
	l.says(e.Proof, "store-1 paused (SIGSTOP, pid ", "threads stopped), for 5ms of every 10ms")
	l.await("second stop", func() bool { return n.stops.Load() > 2 })
	l.await("answer in between", func() bool { return l.reaches("c1", "store-1") })
	text := l.heal(e)
	l.says(text, "store-1 was stopped and resumed (number of stops: ")
	if stopped(t, pid) {
		t.Error("it stays stopped")
	}
	if at := n.stops.Load(); !l.reaches("c1", "store-1") || n.stops.Load() != at {
		t.Error("it is stopped again after the heal")
	}
}

// What cannot be stopped is said, and nobody stays stopped.
func TestSlowServerInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 0)
	pid := l.pid(1)
	e, err := l.inject("slow-server", on(l.node(1), bare{"rock"}))
	l.fails(e, err, "lockstorm cannot pause server rock")
	l.check(l.node(2).Kill(l.ctx))
	e, err = l.inject("slow-server", on(l.node(1), l.node(2)))
	l.fails(e, err, "the process has ended")
	if stopped(t, pid) {
		t.Error("store-1 stays stopped")
	}
	if _, err := slowServer().Fault.Inject(l.ctx, l, on(l.node(1))); err == nil {
		t.Error("it was slowed without a share and a period")
	}
}

// A server that is killed while it is slow is no failure of the heal.
func TestSlowServerThenKill(t *testing.T) {
	l := newLab(t, clustertest.Single(), 0)
	e := l.must("slow-server:period=10ms", on(l.node(1)))
	l.check(l.node(1).Kill(l.ctx))
	l.says(l.heal(e), "store-1 was stopped ")
}

// halting stops once, and never again.
type halting struct {
	counted
	refused chan struct{}
}

func (h halting) Pause(ctx context.Context) (string, error) {
	if h.stops.Load() == 0 {
		return h.counted.Pause(ctx)
	}
	close(h.refused)
	return "", errors.New("it will not stop")
}

// What goes wrong between the injection and the heal is said by the heal.
func TestSlowServerFailsLater(t *testing.T) {
	l := newLab(t, clustertest.Single(), 0)
	refused := make(chan struct{})
	e := l.must("slow-server:period=5ms", on(halting{counted{l.node(1), new(atomic.Int64)}, refused}))
	<-refused
	if _, err := e.Heal(l.ctx); err == nil || err.Error() != "it will not stop" {
		t.Errorf("the heal says %v", err)
	}
	if stopped(t, l.pid(1)) {
		t.Error("it stays stopped")
	}
}

func TestSlowServerPlans(t *testing.T) {
	cannot(t, slowServer().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer})
	const split = "in each cycle the server must be stopped for some time, and must run for at least 1 ms"
	planned(t, map[string]string{
		"slow-server:share=0.5,period=0.1ttl": "", "slow-server:share=2": "share=2 is not a number from 0 to 1",
		"slow-server:share=0": "share=0 is not possible with period=50ms: " + split, "slow-server:share=1": split,
		"slow-server:period=0s":            split,
		"slow-server:share=0.9,period=5ms": split, "slow-server:period=x": "period=x is not a length",
	})
}
