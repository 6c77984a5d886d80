package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func serverPause() nemesis.Spec {
	return nemesis.Spec{
		Name: "server-pause", Doc: "SIGSTOP of a server, then SIGCONT",
		Proven: "Every thread is in state T. Its sockets still accept and buffer: what clients send meanwhile is carried out after SIGCONT, the heal.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, Params: nemesis.ServerParams("1.5ttl", "3ttl", "1"), Fault: ServerPause{},
	}
}

// ServerPause stops servers with SIGSTOP. Their sockets still accept and buffer: what
// clients send meanwhile is carried out after the resume.
type ServerPause struct{}

var _ nemesis.Fault = ServerPause{}

// Available says whether there is a server.
func (ServerPause) Available(s nemesis.Setting) error { return needsServer(s) }

// Inject stops the servers and reads back that every thread stopped.
func (ServerPause) Inject(ctx context.Context, _ nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var proofs []string
	var paused []nemesis.Pauser
	e := nemesis.Effect{Heal: func(ctx context.Context) (string, error) {
		var back []string
		var errs []error
		for _, p := range paused {
			proof, err := resume(ctx, p)
			errs, back = append(errs, err), append(back, proof)
		}
		return strings.Join(back, "; "), errors.Join(errs...)
	}}
	for _, n := range t.Nodes {
		p, ok := nemesis.As[nemesis.Pauser](n)
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
