package nemesis

import (
	"context"
	"fmt"
	"strings"
)

// ServerRestart kills servers with SIGKILL and starts them again at once with what
// their topology kept on disk: nothing, or everything.
type ServerRestart struct{}

var _ Fault = ServerRestart{}

// Available says whether there is a server.
func (ServerRestart) Available(s Setting) error { return needsServer(s) }

// Inject kills all targets, starts them again, and returns when they answer. When that
// fails, its heal tries again: a server must not stay dead.
func (ServerRestart) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	var dead []Restarter
	failed := func(err error) (Effect, error) {
		return Effect{Heal: func(ctx context.Context) (string, error) { return restartAll(ctx, dead) }}, err
	}
	for _, n := range t.Nodes {
		s, ok := n.(Restarter)
		if !ok {
			return failed(fmt.Errorf("node %s cannot be restarted", n.Name()))
		}
		if err := w.Killing("", n.Name()); err != nil {
			return failed(err)
		}
		if err := s.Kill(ctx); err != nil {
			return failed(err)
		}
		dead = append(dead, s)
	}
	proof, err := restartAll(ctx, dead)
	if err != nil {
		return failed(err)
	}
	return Effect{Proof: proof}, nil
}

func restartAll(ctx context.Context, dead []Restarter) (string, error) {
	var proofs []string
	for _, s := range dead {
		proof, err := s.Restart(ctx)
		if err != nil {
			return "", err
		}
		proofs = append(proofs, proof)
	}
	return strings.Join(proofs, "; "), nil
}
