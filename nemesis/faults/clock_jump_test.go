package faults

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// ahead is how far a server's clock is from the host's, to the minute.
func (l *lab) ahead(i int) time.Duration {
	l.t.Helper()
	now, err := l.store(i).Clock(l.ctx)
	l.check(err)
	return time.Until(now).Round(time.Minute)
}

// The clocks of the targets jump, for good or until the heal; others stay.
func TestClockJump(t *testing.T) {
	l := newJumpingLab(t, clustertest.Several(3))
	e := l.must("clock-jump:by=1h", on(l.node(1), l.node(2)))
	l.says(e.Proof, "the clock of store-1 jumped by 1h0m0s; it now differs from the host's clock by ",
		"; the clock of store-2 jumped by 1h0m0s")
	if e.Heal != nil {
		t.Error("a clock that was set right is set back")
	}
	for i, want := range []time.Duration{time.Hour, time.Hour, 0} {
		if got := l.ahead(i + 1); got != want {
			t.Errorf("store-%d is ahead by %v, want %v", i+1, got, want)
		}
	}
	e = l.must("clock-jump:by=-2h,undo=yes", on(l.node(3)))
	if got := l.ahead(3); got != -2*time.Hour {
		t.Errorf("store-3 is ahead by %v", got)
	}
	l.says(l.heal(e), "the clock of store-3 jumped by 2h0m0s")
	if got := l.ahead(3); got != 0 {
		t.Errorf("store-3 is ahead by %v after the heal", got)
	}
}

// What is in the way is said, and the clocks that had jumped are set back.
func TestClockJumpInTheWay(t *testing.T) {
	l := newJumpingLab(t, clustertest.Replicated(1, 1))
	for want, n := range map[string]nemesis.Node{
		"cannot change the clock of server rock":  bare{"rock"},
		"cannot change the clock of supervisor-1": l.node(2),
	} {
		e, err := l.inject("clock-jump:by=1h", on(l.node(1), n))
		l.fails(e, err, want)
		if got := l.ahead(1); got != 0 {
			t.Errorf("%s: store-1 is ahead by %v", want, got)
		}
	}
	if _, err := clockJump().Fault.Inject(l.ctx, l, on(l.node(1))); err == nil {
		t.Error("it jumped by nothing")
	}
}

// A clock that cannot be read back did not jump.
func TestClockJumpUnseen(t *testing.T) {
	l := newJumpingLab(t, clustertest.Single())
	l.check(l.node(1).Kill(l.ctx))
	e, err := l.inject("clock-jump:by=1h", on(l.node(1)))
	l.fails(e, err, "clock of store-1: ")
	if _, err := l.node(1).Restart(l.ctx); err != nil || l.ahead(1) != 0 {
		t.Errorf("it jumped, %v", err)
	}
}

func TestClockJumpPlans(t *testing.T) {
	cannot(t, clockJump().Fault, map[string]func(*nemesis.Setting){
		withoutServer: noServer, "no compiler": func(s *nemesis.Setting) { s.NoClock = "no compiler" },
	})
	const tooShort = "is too small: the minimum is 20ms, forward or back, because a smaller jump looks like clock drift"
	planned(t, map[string]string{
		"clock-jump:by=2ttl": "", "clock-jump:by=-15s,undo=yes": "", "clock-jump:by=20ms": "",
		"clock-jump:by=19ms": "by=19ms " + tooShort, "clock-jump:by=-1ms": "by=-1ms " + tooShort, "clock-jump:by=0s": tooShort,
		"clock-jump:by=far": "by=far is not a length", "clock-jump:by=--1s": "is not a length",
		"clock-jump:undo=maybe": "undo=maybe: choose yes or no",
	})
}
