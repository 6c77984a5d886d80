package faults

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func isolateMaster() nemesis.Spec {
	return nemesis.Spec{
		Name: "isolate-master", Doc: "split brain: the master, a supervisor and half of the clients on one side, all others on the other",
		Proven: "Every link between the two sides is cut, and the other side has a master of its own: the proof names both and what each says of itself. The heal lets all links carry again.",
		Family: history.FamilyLink, Whom: nemesis.Nodes, Links: nemesis.ToServers, OfMaster: true, Takes: failoverTakes, Fault: IsolateMaster{},
		Params: nemesis.ServerParams("1.5ttl", "4ttl", nemesis.RoleMaster),
	}
}

// IsolateMaster splits everybody into two groups that cannot reach each other:
//
//	master, supervisor, c1, c2   X   replicas, supervisors, c3, c4, c5
//
// Both sides have a master in the end.
type IsolateMaster struct{}

var _ nemesis.Fault = IsolateMaster{}

// Available says whether somebody replaces masters.
func (IsolateMaster) Available(s nemesis.Setting) error { return needsFleet(s) }

// Inject cuts every link between the groups and waits until the other side has a master
// of its own.
func (IsolateMaster) Inject(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	old, err := theMaster(ctx, w, t)
	if err != nil {
		return nemesis.Effect{}, err
	}
	since := w.Now()
	inside := isolated(w, t)
	var b broken
	if err := b.split(ctx, w, inside); err != nil {
		return b.effect(), err
	}
	heir, text, err := promoted(ctx, w, old.Name(), since)
	if err != nil {
		return b.effect(), err
	}
	e := b.effect()
	if role := old.Role(); role != nemesis.RoleMaster {
		return e, fmt.Errorf("%s is isolated and answers as %s, not as master", old.Name(), role)
	}
	var with []string
	for _, c := range w.Clients() {
		if inside[c.Name()] {
			with = append(with, c.Name())
		}
	}
	e.Proof = fmt.Sprintf("%d links are cut: %s on one side with %s; on the other side %s; both %s and %s answer as master",
		len(b.mends), old.Name(), strings.Join(with, ", "), text, old.Name(), heir.Name())
	return e, nil
}

// split cuts every link from one side to a server on the other.
func (b *broken) split(ctx context.Context, w nemesis.World, inside map[string]bool) error {
	var clients, nodes []string
	for _, c := range w.Clients() {
		clients = append(clients, c.Name())
	}
	for _, n := range w.Nodes() {
		nodes = append(nodes, n.Name())
	}
	for _, to := range nodes {
		for _, from := range clients {
			if inside[from] != inside[to] {
				if err := b.cut(ctx, w.Net().Link(from, to)); err != nil {
					return err
				}
			}
		}
		for _, from := range nodes {
			if inside[from] != inside[to] {
				if err := b.cut(ctx, w.Net().Links(from, to)...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isolated are the master, one supervisor, and half of the clients: the one at the point
// among them.
func isolated(w nemesis.World, t nemesis.Target) map[string]bool {
	inside := map[string]bool{t.Nodes[0].Name(): true}
	for _, n := range w.Nodes() {
		if !n.Data() {
			inside[n.Name()] = true
			break
		}
	}
	all := w.Clients()
	n := len(all) / 2
	if t.Hit != nil {
		inside[t.Hit.Client.Name()] = true
		n = max(n-1, 0)
	}
	var others []nemesis.Client
	for _, c := range all {
		if !inside[c.Name()] {
			others = append(others, c)
		}
	}
	for _, c := range nemesis.Choose(others, n, t.Draw) {
		inside[c.Name()] = true
	}
	return inside
}
