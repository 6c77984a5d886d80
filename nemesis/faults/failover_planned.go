package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func failoverPlanned() nemesis.Spec {
	return nemesis.Spec{
		Name: "failover-planned", Doc: "an operator has the master replaced although it is well",
		Proven: "Another master is named by most supervisors and says so itself. There is nothing to heal.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: failoverTakes, Fault: FailoverPlanned{},
		Params: nemesis.ServerParams(nemesis.AtOnce, "3ttl", nemesis.RoleMaster),
	}
}

// FailoverPlanned has a living master replaced.
type FailoverPlanned struct{}

var _ nemesis.Fault = FailoverPlanned{}

// Available says whether somebody replaces masters.
func (FailoverPlanned) Available(s nemesis.Setting) error { return needsFleet(s) }

// Inject asks for it and waits for the promotion.
func (FailoverPlanned) Inject(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	if _, err := theMaster(ctx, w, t); err != nil {
		return nemesis.Effect{}, err
	}
	since := w.Now()
	if err := w.Fleet().FailOver(ctx); err != nil {
		return nemesis.Effect{}, err
	}
	_, text, err := promoted(ctx, w, t.Nodes[0].Name(), since)
	return nemesis.Effect{Proof: "in the place of " + t.Nodes[0].Name() + " " + text}, err
}
