package nemesis

import (
	"context"
	"fmt"
	"strings"
)

// ServerKill kills servers with SIGKILL; they stay down until the heal starts them again
// with what their topology kept on disk: nothing, or everything.
type ServerKill struct{}

var _ Fault = ServerKill{}

// Available says whether there is a server.
func (ServerKill) Available(s Setting) error { return needsServer(s) }

// Inject kills all targets and returns when they are dead.
func (ServerKill) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	dead, proof, err := killAll(ctx, w, t.Nodes)
	heal := func(ctx context.Context) (string, error) { return restartAll(ctx, dead) }
	return Effect{Proof: proof, Heal: heal}, err
}

// killAll records each kill before its signal, and returns when all are dead. It returns
// those that were killed also when it fails.
func killAll(ctx context.Context, w World, nodes []Node) ([]Restarter, string, error) {
	var dead []Restarter
	var names []string
	for _, n := range nodes {
		s, ok := n.(Restarter)
		if !ok {
			return dead, "", fmt.Errorf("node %s cannot be restarted", n.Name())
		}
		if err := w.Killing("", n.Name()); err != nil {
			return dead, "", err
		}
		dead, names = append(dead, s), append(names, n.Name())
		if err := s.Kill(ctx); err != nil {
			return dead, "", err
		}
	}
	return dead, strings.Join(names, ", ") + " died of SIGKILL", nil
}
