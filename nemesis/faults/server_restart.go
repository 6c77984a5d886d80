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
		Fault: ServerRestart{},
	}
}

// ServerRestart kills servers with SIGKILL and starts them again at once with what
// their topology kept on disk: nothing, or everything.
type ServerRestart struct{}

var _ nemesis.Fault = ServerRestart{}

// Available says whether there is a server.
func (ServerRestart) Available(s nemesis.Setting) error { return needsServer(s) }

// Inject kills all targets, starts them again, and returns when they answer. When that
// fails, its heal tries again: a server must not stay dead.
func (ServerRestart) Inject(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	dead, _, err := killAll(ctx, w, t.Nodes)
	var proof string
	if err == nil {
		proof, err = restartAll(ctx, dead)
	}
	if err != nil {
		return nemesis.Effect{Heal: func(ctx context.Context) (string, error) { return restartAll(ctx, dead) }}, err
	}
	return nemesis.Effect{Proof: proof}, nil
}
