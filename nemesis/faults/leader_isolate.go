package faults

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

func leaderIsolate() nemesis.Spec {
	return nemesis.Spec{
		Name: "leader-isolate", Also: []string{"isolate-master"}, Doc: "makes a split brain: separates the leader, half of the " +
			"clients and one supervisor, if there are any, from everyone else",
		Proven: "Every link between the sides is cut (or what `mode` says), and the other side has elected a leader. The record " +
			"names both leaders and the role that each reports.",
		End:    "All links are restored.",
		Family: history.FamilyLink, Whom: nemesis.Nodes, Links: nemesis.ToServers, OfMaster: true, Takes: failoverTakes,
		Fault:  fault{needsFleet, injectLeaderIsolate},
		Params: nemesis.ServerParams("1.5ttl", "4ttl", nemesis.RoleMaster, modeParams()...),
		Check: func(own catalog.Values, in nemesis.Input) error {
			if own[paramMode] == "" { // a plan that was saved before there were modes: a cut
				return nil
			}
			if own[paramMode] == modeLatency || (own[paramMode] != modeCut && own[paramWay] != string(link.Both)) {
				return fmt.Errorf("%s=%s,%s=%s does not separate the two sides, because some traffic still passes: choose the mode %s, %s, "+
					"%s or %s, in both directions",
					paramMode, own[paramMode], paramWay, own[paramWay], modeCut, modeBlackHole, modeLoss, modeHold)
			}
			return checkMode(own, in)
		},
	}
}

// injectLeaderIsolate splits everybody into two groups that cannot reach each other:
//
//	leader, supervisor, c1, c2   X   followers, supervisors, c3, c4, c5
//
// In the end the other side has a leader; whether the old one still takes itself for it depends on
// the store.
// It breaks every link between the groups and waits until the other side has a leader
// of its own.
func injectLeaderIsolate(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	old, err := theMaster(ctx, w, t)
	if err != nil {
		return nemesis.Effect{}, err
	}
	since := w.Now()
	inside := isolated(w, t)
	b := broken{began: since}
	if err := b.split(ctx, w, t.Params, inside); err != nil {
		return b.effect(), err
	}
	heir, text, err := promoted(ctx, w, old.Name(), since)
	if err != nil {
		return b.effect(), err
	}
	e := b.effect()
	role := old.Role()
	if _, alone := nemesis.As[cluster.Leader](old); alone && !history.Leads(role) {
		return e, fmt.Errorf("there is no split brain: %s is isolated, but no longer reports itself as master (its role is %s)",
			old.Name(), role)
	}
	both := fmt.Sprintf("both %s and %s report themselves as %s", old.Name(), heir.Name(), role)
	if !history.Leads(role) {
		both = fmt.Sprintf("%s reports itself as %s, and %s reports itself as %s", old.Name(), role, heir.Name(), heir.Role())
	}
	var with []string
	for _, c := range w.Clients() {
		if inside[c.Name()] {
			with = append(with, c.Name())
		}
	}
	if len(with) == 0 {
		with = []string{"no client"}
	}
	broke := "are cut"
	if mode := t.Params[paramMode]; mode != modeCut && mode != "" {
		broke = "are broken by " + mode
	}
	e.Proof = fmt.Sprintf("%d links between two sides %s: on one side %s with %s; on the other side %s; %s",
		len(b.mends), broke, old.Name(), strings.Join(with, ", "), text, both)
	return e, nil
}

// split breaks every link from one side to a server on the other.
func (b *broken) split(ctx context.Context, w nemesis.World, p catalog.Values, inside map[string]bool) error {
	var all []*link.Link
	for _, n := range w.Nodes() {
		to := n.Name()
		for _, c := range w.Clients() {
			if inside[c.Name()] != inside[to] {
				all = append(all, w.Net().Link(c.Name(), to))
			}
		}
		for _, from := range w.Nodes() {
			if inside[from.Name()] != inside[to] {
				all = append(all, w.Net().Links(from.Name(), to)...)
			}
		}
	}
	return b.breakAll(ctx, all, p, w.TTL())
}

// isolated are the leader, one supervisor, and half of the clients: the one at the point
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
