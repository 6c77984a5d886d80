package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func sessionExpire() nemesis.Spec {
	return nemesis.Spec{
		Name: "session-expire", Doc: "makes the servers end a holder's session (or revoke its lease)",
		Proven: "A server confirmed it (all are asked in turn); if none has the session, the fault counts as not injected.",
		End:    "The session stays ended.",
		Family: history.FamilyStore, Whom: nemesis.Clients, Fault: fault{canSessionExpire, injectSessionExpire},
		Strikes: func(k int, _ []string) string { return []string{history.AtAcquired, history.AtBeforeWrite}[k%2] },
		Params:  append(nemesis.ClientParams(nemesis.AtOnce, "2ttl"), nemesis.StayParam()), OfGrant: true,
	}
}

// canSessionExpire says whether there are sessions that can be ended.
func canSessionExpire(s nemesis.Setting) error {
	return cmp.Or(needsServer(s), lack(s.Sessions,
		"backend %s on topology %s has no grants that end with a session, or no servers that can end it (for adapters see "+
			"\"opened\" and \"session\" in docs/adapters.md)", s.Backend, s.Topology))
}

// injectSessionExpire ends the session under which the client at the point was granted the lock, long
// before its time-out.
// It asks one server after the other until one has ended it. Servers are asked for sessions that have no name on record.
func injectSessionExpire(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	if t.Hit == nil {
		return nemesis.Effect{}, errNoGrant
	}
	if t.Hit.Lease == "" {
		return endFound(ctx, w, t.Hit)
	}
	return endOn(w, t.Hit, "session", t.Hit.Lease, func(can cluster.SessionEnder) error { return can.EndSession(ctx, t.Hit.Lease) })
}

// endFound ends the sessions on the connections of a holder.
func endFound(ctx context.Context, w nemesis.World, hit *nemesis.Hit) (nemesis.Effect, error) {
	var proof []string
	errs, asked := []error{errors.New("no server has a session on the client's connections")}, false
	for _, n := range w.Nodes() {
		finder, finds := nemesis.As[cluster.SessionFinder](n)
		ender, ends := nemesis.As[cluster.SessionEnder](n)
		if !finds || !ends {
			continue
		}
		asked = true
		var from []string
		for _, l := range w.Net().Links(hit.Client.Name(), n.Name()) {
			from = append(from, l.Sources()...)
		}
		leases, err := finder.SessionsFrom(ctx, from)
		errs = append(errs, err)
		for _, lease := range leases {
			if err := ender.EndSession(ctx, lease); err != nil {
				errs = append(errs, err)
				continue
			}
			proof = append(proof, fmt.Sprintf("server %s ended the session %s of client %s, which held lock %s",
				n.Name(), lease, hit.Client.Name(), hit.Lock))
		}
	}
	switch {
	case !asked:
		return nemesis.Effect{}, errNoGrant
	case len(proof) == 0:
		return nemesis.Effect{}, errors.Join(errs...)
	}
	return nemesis.Effect{Proof: strings.Join(proof, "; ")}, nil
}

var errNoGrant = errors.New("the client does not hold the lock at the moment of the fault: leave out at=, or name a later point")

// endOn asks one server after the other that can until one has ended what a grant lives in: a session
// or a connection, by its id.
func endOn[C any](w nemesis.World, hit *nemesis.Hit, what, id string, end func(C) error) (nemesis.Effect, error) {
	if id == "" {
		return nemesis.Effect{}, errNoGrant
	}
	var errs []error
	for _, n := range w.Nodes() {
		can, ok := nemesis.As[C](n)
		if !ok {
			continue
		}
		err := end(can)
		if err == nil {
			return nemesis.Effect{Proof: fmt.Sprintf("server %s ended the %s %s of client %s, which held lock %s", n.Name(), what, id,
				hit.Client.Name(), hit.Lock)}, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", n.Name(), err))
	}
	return nemesis.Effect{}, errors.Join(append(errs, fmt.Errorf("no server ended the client's %s", what))...)
}
