package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func leaderKill() nemesis.Spec {
	return nemesis.Spec{
		Name: "leader-kill", Doc: "kills the leader (kill -9), waits until another server leads, and starts it again",
		Proven: "It died of SIGKILL; the other servers, or a majority of the supervisors, chose another, which reports itself as " +
			"leader.",
		End:    "The old leader is started, and answers.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: failoverTakes,
		Fault: fault{needsFleet, injectLeaderKill}, Params: nemesis.ServerParams("0.5ttl", "4ttl", nemesis.RoleLeader),
	}
}

// injectLeaderKill kills the leader and waits for the next one. What the followers had by then is not
// controlled: FailoverKill makes the loss of a lock certain, where that can be.
// It kills it and waits for the promotion.
func injectLeaderKill(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	old, err := theMaster(ctx, w, t)
	if err != nil {
		return nemesis.Effect{}, err
	}
	since := w.Now()
	dead, proof, err := killAll(ctx, w, t.Nodes)
	e := nemesis.Effect{Proof: proof, Began: since, Heal: dead.restart}
	if err != nil {
		return e, err
	}
	_, text, err := promoted(ctx, w, old.Name(), since)
	e.Proof += "; " + text
	return e, err
}
