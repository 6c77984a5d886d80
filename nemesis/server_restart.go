package nemesis

import (
	"context"
	"errors"
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
	dead, _, err := killAll(ctx, w, t.Nodes)
	var proof string
	if err == nil {
		proof, err = restartAll(ctx, dead)
	}
	if err != nil {
		return Effect{Heal: func(ctx context.Context) (string, error) { return restartAll(ctx, dead) }}, err
	}
	return Effect{Proof: proof}, nil
}

func restartAll(ctx context.Context, dead []Restarter) (string, error) {
	var proofs []string
	var errs []error
	for _, s := range dead {
		proof, err := s.Restart(ctx)
		proofs, errs = append(proofs, proof), append(errs, err)
	}
	return strings.Join(proofs, "; "), errors.Join(errs...)
}
