package nemesis

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ServerPause stops servers with SIGSTOP. Their sockets still accept and buffer: what
// clients send meanwhile is carried out after the resume.
type ServerPause struct{}

var _ Fault = ServerPause{}

// Available says whether there is a server.
func (ServerPause) Available(s Setting) error { return needsServer(s) }

func needsServer(s Setting) error {
	if s.Nodes == 0 {
		return fmt.Errorf("the topology %s of %s has no server", s.Topology, s.Backend)
	}
	return nil
}

// Inject stops the servers and reads back that every thread stopped.
func (ServerPause) Inject(ctx context.Context, _ World, t Target) (Effect, error) {
	var proofs []string
	var paused []Pauser
	e := Effect{Heal: func(ctx context.Context) (string, error) {
		var back []string
		var errs []error
		for _, p := range paused {
			proof, err := resume(ctx, p)
			errs, back = append(errs, err), append(back, proof)
		}
		return strings.Join(back, "; "), errors.Join(errs...)
	}}
	for _, n := range t.Nodes {
		p, ok := n.(Pauser)
		if !ok {
			return e, fmt.Errorf("node %s cannot be paused", n.Name())
		}
		paused = append(paused, p)
		proof, err := p.Pause(ctx)
		if err != nil {
			return e, err
		}
		proofs = append(proofs, n.Name()+" "+proof)
	}
	e.Proof = strings.Join(proofs, "; ")
	return e, nil
}
