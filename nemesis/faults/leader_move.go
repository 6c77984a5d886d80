package faults

import (
	"cmp"
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func leaderMove() nemesis.Spec {
	return nemesis.Spec{
		Name: "leader-move", Also: []string{"failover-planned"}, Doc: "makes a healthy leader hand over, as an operator does",
		Proven: "Another leads, as for leader-kill.",
		End:    "The new leader stays.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: failoverTakes,
		Fault: fault{canLeaderMove, injectLeaderMove}, Params: nemesis.ServerParams(nemesis.AtOnce, "3ttl", nemesis.RoleMaster),
	}
}

// canLeaderMove says whether somebody replaces leaders when told to.
func canLeaderMove(s nemesis.Setting) error {
	return cmp.Or(needsFleet(s), lack(s.Elects == 0 || s.Moves,
		"the leader of topology %s cannot hand over leadership: this kind of "+
			"server has no command for a change of the leader", s.Topology))
}

// injectLeaderMove has a living leader replaced.
// It asks for it and waits for the promotion.
func injectLeaderMove(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	if _, err := theMaster(ctx, w, t); err != nil {
		return nemesis.Effect{}, err
	}
	since := w.Now()
	if err := w.Fleet().FailOver(ctx); err != nil {
		return nemesis.Effect{Began: since}, err
	}
	_, text, err := promoted(ctx, w, t.Nodes[0].Name(), since)
	return nemesis.Effect{Proof: "in place of " + t.Nodes[0].Name() + ", " + text, Began: since}, err
}
