package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func serverRestart() nemesis.Spec {
	return nemesis.Spec{
		Name: "server-restart", Doc: "kills a server (kill -9) and starts it again at once, with the data that the topology keeps " +
			"on disk",
		Proven: "The server answers, with a new process id.",
		End:    "Nothing to undo.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, Params: nemesis.ServerParams(nemesis.AtOnce, "2ttl", "1"),
		Fault: fault{needsServer, injectServerRestart},
	}
}

// injectServerRestart kills servers with SIGKILL and starts them again at once with what
// their topology kept on disk: nothing, or everything.
// It kills all targets, starts them again, and returns when they answer. When that
// fails, its heal tries again: a server must not stay dead.
func injectServerRestart(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	dead, _, err := killAll(ctx, w, t.Nodes)
	var proof string
	if err == nil {
		proof, err = dead.restart(ctx)
	}
	if err != nil {
		return nemesis.Effect{Heal: dead.restart}, err
	}
	return nemesis.Effect{Proof: proof}, nil
}
