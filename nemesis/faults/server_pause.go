package faults

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func serverPause() nemesis.Spec {
	return nemesis.Spec{
		Name: "server-pause", Doc: "pauses a server (SIGSTOP)",
		Notes:  "The kernel goes on buffering requests for it.",
		Proven: "Every thread was stopped (in a container: Docker reports it paused, the kernel its processes frozen).",
		End:    "SIGCONT; the server then carries out what arrived meanwhile.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, Params: nemesis.ServerParams("1.5ttl", "3ttl", "1"),
		Fault: fault{needsServer, injectServerPause},
	}
}

// injectServerPause stops servers with SIGSTOP. Their sockets still accept and buffer: what
// clients send meanwhile is carried out after the resume.
// It stops the servers and reads back that every thread stopped.
func injectServerPause(ctx context.Context, _ nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var all stops
	for _, n := range t.Nodes {
		p, ok := nemesis.As[nemesis.Pauser](n)
		if !ok {
			return nemesis.Effect{}, fmt.Errorf("lockstorm cannot pause server %s", n.Name())
		}
		all = append(all, stop{n.Name(), p})
	}
	return all.pause(ctx)
}
