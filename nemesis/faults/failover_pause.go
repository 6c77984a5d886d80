package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func failoverPause() nemesis.Spec {
	return nemesis.Spec{
		Name: "failover-pause", Doc: "the master is stopped (SIGSTOP) until it is deposed, and then resumed",
		Proven: "Every thread of the master is in state T, and another master is named by most supervisors and says so itself. The heal resumes the old one, which still takes itself for the master.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: failoverTakes, Fault: FailoverPause{},
		Params: nemesis.ServerParams("0.5ttl", "4ttl", nemesis.RoleMaster),
	}
}

// FailoverPause stops the master until another one is in its place. Resumed, it still
// takes itself for the master until it is told.
type FailoverPause struct{}

var _ nemesis.Fault = FailoverPause{}

// Available says whether somebody replaces masters.
func (FailoverPause) Available(s nemesis.Setting) error { return needsFleet(s) }

// Inject stops the master and waits for the promotion.
func (FailoverPause) Inject(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	if _, err := theMaster(ctx, w, t); err != nil {
		return nemesis.Effect{}, err
	}
	since := w.Now()
	e, err := ServerPause{}.Inject(ctx, w, t)
	if err != nil {
		return e, err
	}
	_, text, err := promoted(ctx, w, t.Nodes[0].Name(), since)
	e.Proof += "; " + text
	return e, err
}
