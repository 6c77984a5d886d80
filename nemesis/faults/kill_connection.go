package faults

import (
	"cmp"
	"context"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func killConnection() nemesis.Spec {
	return nemesis.Spec{
		Name: "kill-connection", Doc: "makes the server end a holder's connection, as an operator or a time-out does " +
			"(pg_terminate_backend, KILL)",
		Proven: "As for session-expire, of the connection.",
		End:    "The connection stays closed.",
		Family: history.FamilyStore, Whom: nemesis.Clients, Fault: fault{canKillConnection, injectKillConnection},
		Strikes: func(k int, _ []string) string { return []string{history.AtAcquired, history.AtBeforeWrite}[k%2] },
		Params:  append(nemesis.ClientParams(nemesis.AtOnce, "2ttl"), nemesis.StayParam()), OfGrant: true,
	}
}

// canKillConnection says whether there are connections that can be ended.
func canKillConnection(s nemesis.Setting) error {
	return cmp.Or(needsServer(s), lack(s.Connections,
		"backend %s on topology %s has no grants that end with their connection, or no servers that can end it", s.Backend,
		s.Topology))
}

// injectKillConnection ends the connection on which the client at the point was granted the lock.
// It asks one server after the other until one has ended it.
func injectKillConnection(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	if t.Hit == nil {
		return nemesis.Effect{}, errNoGrant
	}
	return endOn(w, t.Hit, "connection", t.Hit.Connection, func(can cluster.ConnectionEnder) error {
		return can.EndConnection(ctx, t.Hit.Connection)
	})
}
