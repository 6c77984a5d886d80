package faults

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Without the leader and another one nobody leads; the heal brings both back, and one leads.
func TestQuorumLoss(t *testing.T) {
	for mode, proof := range map[string]string{"kill": "died of SIGKILL", "pause": "threads stopped"} {
		// who is asked first stands still
		said := map[string]string{"kill": "store-3 reports itself as replica", "pause": "no server answers"}
		l := newLab(t, clustertest.Replicated(3, 0), 0)
		target := on(l.node(1), l.node(2))
		target.Params = map[string]string{paramMode: mode}
		e, err := injectQuorumLoss(l.ctx, l, target)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		l.says(e.Proof, proof)
		l.says(e.Proof, "no server reports itself as leader: ")
		l.says(e.Proof, "store-3 reports itself as replica")
		brief, cancel := context.WithTimeout(l.ctx, 100*time.Millisecond)
		if _, err := somebodyLeads(brief, l); err == nil || !strings.Contains(err.Error(), "no server reports itself as leader yet ("+
			said[mode]) {
			t.Errorf("while no server leads: %v", err)
		}
		cancel()
		l.says(l.heal(e), "store-1 became the leader after ")
	}
}

// Scattered servers reach nobody; where each leads by itself, as here, the quorum is not lost.
func TestQuorumLossCut(t *testing.T) {
	l := newLab(t, clustertest.Replicated(3, 0), 1)
	target := on(l.node(1), l.node(2))
	target.Params = map[string]string{paramMode: "cut"}
	var b broken
	l.check(b.scatter(l.ctx, l, target))
	l.await("nobody follows", func() bool { return l.follows(1) == 0 })
	l.says(b.proof(), "connections that lockstorm closed")
	_, err := b.mend(l.ctx)
	l.check(err)
	l.givesUp("quorum-loss:mode=cut", target, "a server still reports itself as leader: store-1 reports itself as master")
	l.await("all follow again", func() bool { return l.follows(1) == 2 })
}

// Less than a majority is refused.
func TestQuorumLossInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(3, 0), 0)
	e, err := l.inject("quorum-loss", on(l.node(1)))
	l.fails(e, err, "nodes= selects only 1 of 3 servers, but this fault needs a majority of the servers")
	if l.node(1).Role() == history.RoleDown {
		t.Error("it was killed all the same")
	}
}

func TestQuorumLossPlans(t *testing.T) {
	cannot(t, quorumLoss().Fault, map[string]func(*nemesis.Setting){
		"this fault needs at least three servers that elect a leader: topology t has 0 such servers": func(s *nemesis.Setting) {
			s.Elects = 0
		},
	})
	planned(t, map[string]string{
		"quorum-loss:mode=cut": "", "quorum-loss:nodes=all": "",
		"quorum-loss:mode=melt": "mode=melt: choose kill",
	})
}
