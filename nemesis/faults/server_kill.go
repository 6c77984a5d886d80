package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func serverKill() nemesis.Spec {
	return nemesis.Spec{
		Name: "server-kill", Doc: "kills a server (kill -9) and starts it again after `for`, with the data that the topology keeps " +
			"on disk",
		Proven: "The process died of SIGKILL.",
		End:    "The server is started, and answers.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, Params: nemesis.ServerParams("1.5ttl", "3ttl", "1"),
		Fault: fault{needsServer, injectServerKill},
	}
}

// injectServerKill kills servers with SIGKILL; they stay down until the heal starts them again
// with what their topology kept on disk: nothing, or everything.
// It kills all targets and returns when they are dead.
func injectServerKill(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	dead, proof, err := killAll(ctx, w, t.Nodes)
	return nemesis.Effect{Proof: proof, Heal: dead.restart}, err
}
