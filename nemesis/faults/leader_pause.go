package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func leaderPause() nemesis.Spec {
	return nemesis.Spec{
		Name: "leader-pause", Also: []string{"failover-pause"}, Doc: "pauses the leader (SIGSTOP), waits until another server leads, " +
			"and resumes it",
		Proven: "Every thread was stopped; another leads, as for leader-kill.",
		End:    "SIGCONT; at first the old leader still believes that it leads.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: failoverTakes,
		Fault: fault{needsFleet, injectLeaderPause}, Params: nemesis.ServerParams("0.5ttl", "4ttl", nemesis.RoleMaster),
	}
}

// injectLeaderPause stops the leader until another one is in its place. Resumed, it still
// takes itself for the leader until it is told.
// It stops the leader and waits for the promotion.
func injectLeaderPause(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	if _, err := theMaster(ctx, w, t); err != nil {
		return nemesis.Effect{}, err
	}
	since := w.Now()
	e, err := injectServerPause(ctx, w, t)
	e.Began = since
	if err != nil {
		return e, err
	}
	_, text, err := promoted(ctx, w, t.Nodes[0].Name(), since)
	e.Proof += "; " + text
	return e, err
}
