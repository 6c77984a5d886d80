package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func promoteReplica() nemesis.Spec {
	return nemesis.Spec{
		Name: "promote-replica", Doc: "kills the master before its replica has the last writes: cuts replication, lets a client " +
			"acquire, kills the master (kill -9) and promotes the replica",
		Notes: "The holder is kept at `acquired` until another client is granted the lock, or 0.9 of its lease is over.",
		Proven: "The master reported no replica left and died of SIGKILL; the replica accepts writes, and never had the key (if the " +
			"lock uses one). If nobody got the lock within one ttl, the master is killed anyway, and the record says so.",
		End:    "The old master is rebuilt as a replica, and has caught up.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: promoteTakes,
		Fault: fault{canPromoteReplica, injectPromoteReplica}, Strikes: func(int, []string) string { return history.AtRandom },
		Params: append(nemesis.TimeParams("0.5ttl", "4ttl"), nemesis.NodesParam(nemesis.RoleMaster)),
	}
}

// promoteTakes has room for all clients to end their sections, for one that is not granted the lock
// for a lease's time, and for the promotion.
func promoteTakes(ttl time.Duration) time.Duration { return 4*time.Second + ttl*3/2 }

// canPromoteReplica says whether we can promote.
func canPromoteReplica(s nemesis.Setting) error {
	return lack(s.Promotes, "topology %s has no replica that lockstorm could promote", s.Topology)
}

// injectPromoteReplica is what an operator does where nobody decides by himself who leads. Clients find
// the new master by asking.
// It does all of it, and returns when the second client was granted or the first one's lease is
// nearly over.
func injectPromoteReplica(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	master, heir, err := pairWithin(ctx, w)
	if err != nil {
		return nemesis.Effect{}, err
	}
	if err := onlyOn(master, t); err != nil {
		return nemesis.Effect{}, err
	}
	k := &failoverKill{w: w, master: master}
	k.promote = func(ctx context.Context, since int64) (nemesis.Node, string, error) {
		p, ok := nemesis.As[follower](heir)
		if !ok {
			return nil, "", fmt.Errorf("lockstorm cannot promote server %s", heir.Name())
		}
		text, err := p.Promote(ctx)
		return heir, fmt.Sprintf("%s after %v", text, time.Duration(w.Now()-since).Round(time.Millisecond)), err
	}
	k.back = func(ctx context.Context) (string, error) { return rejoin(ctx, k.dead, master, heir) }
	defer k.letGo()
	proof, err := k.strike(ctx, t)
	return nemesis.Effect{Proof: proof, Heal: k.heal, Began: k.began}, err
}

// follower is a node that can be told to lead, and to follow.
type follower interface {
	Promote(ctx context.Context) (string, error)
	Rejoin(ctx context.Context) (string, error)
}

// pairWithin asks for the pair until both say what they are: a busy server that answers late is
// taken for down.
func pairWithin(ctx context.Context, w nemesis.World) (master, heir nemesis.Node, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		if master, heir, err = pair(w); err == nil || !nemesis.Wait(ctx, nemesis.LookEvery) {
			return master, heir, err
		}
	}
}

// pair is the master and the one replica that follows it.
func pair(w nemesis.World) (master, heir nemesis.Node, err error) {
	for _, n := range w.Nodes() {
		if !n.Data() {
			continue
		}
		switch role := n.Role(); {
		case history.Leads(role) && master == nil:
			master = n
		case role == history.RoleReplica && heir == nil:
			heir = n
		default:
			return nil, nil, fmt.Errorf("this fault needs exactly one master and one replica, but %s reports itself as %s", n.Name(), role)
		}
	}
	if master == nil || heir == nil {
		return nil, nil, errors.New("lockstorm found no running master that has a replica")
	}
	return master, heir, nil
}

// rejoin makes the old master a replica of the new one, if it was replaced, and waits until it has
// everything.
func rejoin(ctx context.Context, dead killed, old, heir nemesis.Node) (string, error) {
	if !history.Leads(heir.Role()) {
		return dead.restart(ctx)
	}
	if len(dead) == 0 {
		return "", nil
	}
	f, ok := nemesis.As[follower](old)
	if !ok {
		return "", fmt.Errorf("lockstorm cannot make server %s a replica", old.Name())
	}
	text, err := f.Rejoin(ctx)
	if err != nil {
		return text, err
	}
	l, err := leaderOf(heir)
	if err != nil {
		return text, err
	}
	var said string
	err = nemesis.Until(ctx, func() (inSync bool, err error) {
		inSync, said, err = l.InSync(ctx, 1)
		return inSync, err
	})
	if err != nil {
		return text, fmt.Errorf("%s does not catch up with the new master (%s): %w", old.Name(), said, err)
	}
	p, ok := nemesis.As[cluster.Promoter](heir)
	if !ok {
		return text, fmt.Errorf("lockstorm cannot promote server %s: it has no command for this", heir.Name())
	}
	return strings.Join([]string{text, said}, "; "), p.Secure(ctx)
}
