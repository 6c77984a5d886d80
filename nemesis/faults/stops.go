package faults

import (
	"context"
	"errors"
	"strings"

	"github.com/lockstorm/lockstorm/nemesis"
)

// stop is a client or a node that is to be stopped.
type stop struct {
	name string
	nemesis.Pauser
}

// stops are stopped in their order. The heal resumes those that this fault stopped, not the
// others: they may be stopped by another fault.
type stops []stop

// pause stops all and reads back that each stopped. It heals also where it fails half way.
func (all stops) pause(ctx context.Context) (nemesis.Effect, error) {
	var proofs []string
	var paused stops
	e := nemesis.Effect{Heal: func(ctx context.Context) (string, error) { return paused.resume(ctx) }}
	for _, s := range all {
		paused = append(paused, s)
		proof, err := s.Pause(ctx)
		if err != nil {
			return e, err
		}
		proofs = append(proofs, s.name+" "+proof)
	}
	e.Proof = strings.Join(proofs, "; ")
	return e, nil
}

func (all stops) resume(ctx context.Context) (string, error) {
	var proofs []string
	var errs []error
	for _, s := range all {
		proof, err := resume(ctx, s)
		errs, proofs = append(errs, err), append(proofs, s.name+" "+proof)
	}
	return strings.Join(proofs, "; "), errors.Join(errs...)
}
