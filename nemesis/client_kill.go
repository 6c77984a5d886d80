package nemesis

import (
	"context"
	"fmt"
	"strings"
)

// ClientKill ends client processes with SIGKILL; each is replaced by a new client with
// a new name.
type ClientKill struct{}

var _ Fault = ClientKill{}

// Available is always nil.
func (ClientKill) Available(Setting) error { return nil }

// Inject records the kill, kills, waits for the death and starts the replacement.
func (ClientKill) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	var proofs []string
	for _, c := range t.Clients {
		if err := w.Killing(c.Name(), ""); err != nil {
			return Effect{}, err
		}
		if err := c.Kill(ctx); err != nil {
			return Effect{}, err
		}
		heir, err := w.Replace(ctx, c)
		if err != nil {
			return Effect{}, fmt.Errorf("replace %s: %w", c.Name(), err)
		}
		proofs = append(proofs, fmt.Sprintf("%s died of SIGKILL, %s takes its place", c.Name(), heir))
	}
	return Effect{Proof: strings.Join(proofs, "; ")}, nil
}
