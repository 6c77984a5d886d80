package faults

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/points"
)

func clientPause() nemesis.Spec {
	return nemesis.Spec{
		Name: "client-pause", Doc: "stops a whole client process (SIGSTOP), with the thread that renews its lease, as a long pause of a garbage collector does",
		Proven: "/proc shows every thread of the client's process group in state T (stopped). The heal is SIGCONT.",
		Family: history.FamilyClient, Whom: nemesis.Clients, Params: nemesis.ClientParams("1.5ttl", "2.5ttl"),
		Strikes: strikeHolder, Fault: ClientPause{},
	}
}

// strikeHolder ties every other step to a holder that is about to write or to release.
func strikeHolder(k int, _ []string) string {
	return []string{points.BeforeWrite, points.Random, points.BeforeRelease, points.Random}[k%4]
}

// ClientPause stops whole client processes:
//
//	client  --acquire--[check]--STOP..............CONT--write-->
//	lease   |<------------- ttl ------------>|         ^ too late, and nothing checks
type ClientPause struct{}

var _ nemesis.Fault = ClientPause{}

// Available is always nil: every client is a process.
func (ClientPause) Available(nemesis.Setting) error { return nil }

// Inject sends SIGSTOP to the process groups and reads back that every thread stopped.
// A client that stood at a point is let go only then: it goes on when it is resumed.
func (ClientPause) Inject(ctx context.Context, _ nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var all stops
	for _, c := range t.Clients {
		all = append(all, stop{c.Name(), c})
	}
	return all.pause(ctx)
}
