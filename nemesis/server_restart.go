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

// Inject kills all targets, starts them again, and returns when they answer.
func (ServerRestart) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	var dead []Restarter
	for _, n := range t.Nodes {
		s, ok := n.(Restarter)
		if !ok {
			return Effect{}, fmt.Errorf("node %s cannot be restarted", n.Name())
		}
		if err := w.Killing("", n.Name()); err != nil {
			return Effect{}, err
		}
		if err := s.Kill(ctx); err != nil {
			return Effect{}, err
		}
		dead = append(dead, s)
	}
	var proofs []string
	for _, s := range dead {
		proof, err := s.Restart(ctx)
		if err != nil {
			return Effect{}, err
		}
		proofs = append(proofs, proof)
	}
	return Effect{Proof: strings.Join(proofs, "; ")}, nil
}
