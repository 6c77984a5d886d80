package faults

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func clientKill() nemesis.Spec {
	return nemesis.Spec{
		Name: "client-kill", Doc: "kills a client (kill -9) while it waits for, holds or releases the lock, and starts a new one in " +
			"its place",
		Proven: "The process died of SIGKILL, and the new one runs.",
		End:    "Nothing to undo.",
		Family: history.FamilyClient, Whom: nemesis.Clients, Strikes: strikeKill, Fault: fault{nil, injectClientKill},
		Params: append(nemesis.ClientParams(nemesis.AtOnce, "2.5ttl"), nemesis.BehindParam()), Behind: true,
	}
}

// strikeKill begins with the backend's own first point, where it has one, else with a
// holder; then waiting, random, releasing.
func strikeKill(k int, own []string) string {
	if k == 0 && len(own) > 0 {
		return own[0]
	}
	return []string{history.AtBeforeWrite, history.AtWaiting, history.AtRandom, history.AtReleasing}[k%4]
}

// injectClientKill ends client processes with SIGKILL; each is replaced by a new client with
// a new name.
// It records the kill, kills, waits for the death and starts the replacement.
func injectClientKill(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var proofs []string
	for _, c := range t.Clients {
		if err := w.Killing(c.Name(), ""); err != nil {
			return nemesis.Effect{}, err
		}
		if err := c.Kill(ctx); err != nil {
			return nemesis.Effect{}, err
		}
		heir, err := w.Replace(ctx, c)
		if err != nil {
			return nemesis.Effect{}, fmt.Errorf("cannot replace %s: %w", c.Name(), err)
		}
		proofs = append(proofs, fmt.Sprintf("%s died of SIGKILL; the new client %s takes its place", c.Name(), heir))
	}
	return nemesis.Effect{Proof: strings.Join(proofs, "; ")}, nil
}
