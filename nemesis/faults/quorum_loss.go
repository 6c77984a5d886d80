package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

// How a quorum is lost.
const (
	lossKill  = "kill"
	lossPause = "pause"
) // and modeCut, modeLoss

func quorumLoss() nemesis.Spec {
	return nemesis.Spec{
		Name: "quorum-loss", Doc: "kills, pauses or cuts off a majority of the servers that elect, so that nobody can lead, and " +
			"brings them back",
		Proven: "They were killed, paused or cut off, and no server that answers reports itself as leader.",
		End:    "They are started, resumed or connected; once a server leads again, the record says how long that took.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, Takes: failoverTakes, Fault: fault{canQuorumLoss, injectQuorumLoss},
		Params: nemesis.ServerParams("1ttl", "5ttl", nemesis.RoleMajority,
			catalog.Param{Name: paramMode, Default: lossKill, Doc: "kill: kill -9; pause: SIGSTOP; cut: its links to all other servers; " +
				"loss: all packets on them", Choices: []string{lossKill, lossPause, modeCut, modeLoss}}),
		Check: func(own catalog.Values, in nemesis.Input) error {
			return canLose(own, in.Setting)
		},
	}
}

// canQuorumLoss says whether there is a quorum to lose.
func canQuorumLoss(s nemesis.Setting) error {
	return lack(s.Elects >= 3, "this fault needs at least three servers that elect a leader: topology %s has %d such servers",
		s.Topology, s.Elects)
}

// injectQuorumLoss leaves no majority that could lead:
//
//	mode=kill   server-1 +   server-2 +   server-3
//	mode=cut    server-1  X  server-2  X  server-3   (clients still reach all)
//
// It takes the chosen servers away and waits until nobody leads.
func injectQuorumLoss(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	vote := 0 // others stand before those that do
	for _, n := range w.Nodes() {
		if n.Data() {
			vote++
		}
	}
	if len(t.Nodes) <= vote/2 {
		return nemesis.Effect{}, fmt.Errorf("nodes= selects only %d of %d servers, but this fault needs a majority of the servers: "+
			"use nodes=%s", len(t.Nodes), vote, nemesis.RoleMajority)
	}
	e, err := takeAway(ctx, w, t)
	heal := e.Heal
	e.Heal = func(ctx context.Context) (string, error) {
		if heal == nil {
			return "", nil
		}
		since := w.Now()
		text, err := heal(ctx)
		if err != nil {
			return text, err
		}
		leader, err := somebodyLeads(ctx, w)
		if err != nil {
			return text, err
		}
		return fmt.Sprintf("%s; %s became the leader after %v", text, leader, time.Duration(w.Now()-since).Round(time.Millisecond)), nil
	}
	if err != nil {
		return e, err
	}
	text, err := nobodyLeads(ctx, w)
	e.Proof += "; " + text
	return e, err
}

func takeAway(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	switch t.Params[paramMode] {
	case lossPause:
		return injectServerPause(ctx, w, t)
	case modeCut, modeLoss:
		var b broken
		err := b.scatter(ctx, w, t)
		return b.effect(), err
	}
	dead, proof, err := killAll(ctx, w, t.Nodes)
	return nemesis.Effect{Proof: proof, Heal: dead.restart}, err
}

// scatter breaks the links between each of the nodes and all other servers.
func (b *broken) scatter(ctx context.Context, w nemesis.World, t nemesis.Target) error {
	done := map[string]bool{}
	for _, n := range t.Nodes {
		for _, o := range w.Nodes() {
			if o.Name() == n.Name() || done[o.Name()] {
				continue
			}
			links := append(w.Net().Links(n.Name(), o.Name()), w.Net().Links(o.Name(), n.Name())...)
			if err := b.breakAll(ctx, links, t.Params, w.TTL()); err != nil {
				return err
			}
		}
		done[n.Name()] = true
	}
	return nil
}

// somebodyLeads waits until a server says that it leads, and names it.
func somebodyLeads(ctx context.Context, w nemesis.World) (leader string, err error) {
	var said []string
	err = nemesis.Until(ctx, func() (bool, error) {
		first, now := elected(ctx, w)
		if ctx.Err() == nil { // who could not be asked says nothing
			leader, said = first, now
		}
		return leader != "", nil
	})
	if err != nil {
		err = fmt.Errorf("no server reports itself as leader yet (%s): %w", answers(said), err)
	}
	return leader, err
}

// nobodyLeads waits until none of the servers that answer says that it leads.
func nobodyLeads(ctx context.Context, w nemesis.World) (string, error) {
	var said []string
	err := nemesis.Until(ctx, func() (bool, error) {
		leader, now := elected(ctx, w)
		asked := ctx.Err() == nil
		if asked {
			said = now
		}
		return asked && leader == "", nil
	})
	if err != nil && ctx.Err() != nil {
		err = errors.Join(errors.New("a server still reports itself as leader: "+answers(said)), err)
	}
	return "no server reports itself as leader: " + answers(said), err
}

// elected is the first server that says that it leads, if any, and what all that answer say of themselves.
func elected(ctx context.Context, w nemesis.World) (leader string, said []string) {
	for _, n := range w.Nodes() {
		e, ok := nemesis.As[cluster.Elector](n)
		if !ok {
			continue
		}
		is, _, err := e.Leads(ctx)
		if err != nil {
			continue
		}
		if is && leader == "" {
			leader = n.Name()
		}
		said = append(said, n.Name()+" reports itself as "+n.Role())
	}
	return leader, said
}

func answers(said []string) string {
	if len(said) == 0 {
		return "no server answers"
	}
	return strings.Join(said, ", ")
}
