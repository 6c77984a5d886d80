package faults

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Connections are reset again and again, new ones work in between, and after the heal they
// last.
func TestFlap(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 1)
	first, other := l.openConn("c1", "store-1"), l.openConn("c1", "store-2")
	e := l.must("flap:period=10ms", nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()[:1]})
	l.says(e.Proof, "connections reset: 1 (links: 1); lockstorm repeats the reset about every 10ms")
	if _, err := l.line(first, testLimit); !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("it was not reset: %v", err)
	}
	for range 2 {
		again, err := net.Dial("tcp", l.way("c1", "store-1"))
		if err == nil {
			_, err = l.line(again, testLimit)
			again.Close() //nolint:errcheck // it was reset
		}
		if !errors.Is(err, syscall.ECONNRESET) { // also of a dial that is hit before it returns
			t.Fatalf("it was not reset again: %v", err)
		}
	}
	text := l.heal(e)
	l.says(text, "(connections reset: ", "; rounds of resets: ")
	rounds := l.net.Link("c1", "store-1")
	last := l.openConn("c1", "store-1")
	l.send(last, "ROLE")
	if text, err := l.line(last, testLimit); err != nil || rounds.Open() == 0 {
		t.Errorf("after the heal: %q, %v", text, err)
	}
	l.send(other, "ROLE")
	if _, err := l.line(other, testLimit); err != nil {
		t.Errorf("a connection to another server: %v", err)
	}
}

// A client that has no connection gives nothing to reset.
func TestFlapInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	both := nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()}
	l.givesUp("flap", both, "flap found no open connection between the chosen clients and servers (links: 1), so there was "+
		"nothing to reset")
	if _, err := flap().Fault.Inject(l.ctx, l, both); err == nil {
		t.Error("it flaps without a period")
	}
}

func TestFlapPlans(t *testing.T) {
	cannot(t, flap().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer})
	planned(t, map[string]string{
		"flap:period=0.1ttl,clients=all": "", "flap:period=0s": "period=0s is too short: the minimum is 1 ms",
		"flap:period=x": "period=x is not a length",
	})
}
