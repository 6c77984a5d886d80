// Package faults lets you inject all faults of lockstorm: add [Specs] to a catalogue. Each has a file with its Spec, the words
// for the docs, and how it is injected, proven and healed. Package nemesis plans and carries them out; a fault in a module of
// somebody else is written in the same way. Copy one of these files to write a fault of your own.
package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Specs returns the faults of the default catalogue, in the order of lists and docs.
func Specs() []nemesis.Spec {
	return []nemesis.Spec{
		{Name: "none", Doc: "no faults"},
		clientPause(), clientStall(), clientKill(),
		partitionClient(), flap(), lostReply(), packetDelay(), watchDelay(), partitionReplication(),
		serverPause(), serverRestart(), serverKill(), powerLoss(), slowServer(),
		failoverKillSpec(), promoteReplica(), leaderKill(), leaderPause(), leaderMove(), leaderIsolate(), quorumLoss(),
		clockJump(),
		evict(), flush(), deleteKey(), sessionExpire(), killConnection(),
		chaos(),
	}
}

// fault is a fault by two functions.
type fault struct {
	can    func(s nemesis.Setting) error // nil: it always can
	inject injects
}

type injects func(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error)

// Available says why it cannot work.
func (f fault) Available(s nemesis.Setting) error {
	if f.can == nil {
		return nil
	}
	return f.can(s)
}

// Inject hurts, and returns when the effect is proven.
func (f fault) Inject(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	return f.inject(ctx, w, t)
}

// needsServer says that there is none.
func needsServer(s nemesis.Setting) error {
	return lack(s.Nodes > 0, "topology %s of backend %s has no servers, but this fault acts on servers", s.Topology, s.Backend)
}

// lack says what a fault needs, where that is not there.
func lack(has bool, text string, args ...any) error {
	if has {
		return nil
	}
	return fmt.Errorf(text, args...)
}

// needsStore says what faults of the store lack.
func needsStore(s nemesis.Setting) error {
	return cmp.Or(needsServer(s), lack(s.Stores,
		"this fault needs servers on which lockstorm can delete data: on the servers of topology %s this is "+
			"impossible", s.Topology))
}

// needsKeys says what faults that strike the keys of locks lack.
func needsKeys(s nemesis.Setting) error {
	return cmp.Or(needsServer(s), lack(s.Keys,
		"this fault must know the keys under which the servers keep a lock: lockstorm does not know the "+
			"keys of backend %s on topology %s", s.Backend, s.Topology))
}

// onEach does something to every node that has a capability, and joins what they say.
func onEach[T any](nodes []nemesis.Node, lack string, do func(n nemesis.Node, can T) (string, error)) (string, error) {
	var proofs []string
	for _, n := range nodes {
		can, ok := nemesis.As[T](n)
		if !ok {
			return "", fmt.Errorf("node %s %s", n.Name(), lack)
		}
		proof, err := do(n, can)
		if err != nil {
			return "", fmt.Errorf("%s: %w", n.Name(), err)
		}
		proofs = append(proofs, n.Name()+" "+proof)
	}
	return strings.Join(proofs, "; "), nil
}

// struckKeys are the keys of the lock of the client at the point, or of all locks.
func struckKeys(w nemesis.World, t nemesis.Target) []string {
	if t.Hit != nil {
		return w.Keys(t.Hit.Lock)
	}
	return w.Keys("")
}

// links are those between the clients and the servers that are struck; to a server that clients do not call, those of the
// servers that do.
func links(w nemesis.World, t nemesis.Target) (all []*link.Link) {
	for _, n := range t.Nodes {
		for _, front := range w.Nodes() {
			if nemesis.Hidden(n) && !nemesis.Hidden(front) {
				all = append(all, w.Net().Links(front.Name(), n.Name())...)
			}
		}
	}
	for _, c := range t.Clients {
		for _, n := range t.Nodes {
			if nemesis.Hidden(n) {
				continue
			}
			all = append(all, w.Net().Link(c.Name(), n.Name()))
		}
	}
	return all
}

// resume lets a target go on. One that another fault killed meanwhile needs no healing.
func resume(ctx context.Context, p interface {
	Resume(ctx context.Context) (string, error)
},
) (string, error) {
	proof, err := p.Resume(ctx)
	if errors.Is(err, proc.ErrGone) {
		return "was killed by another fault during the pause, so there is nothing to resume", nil
	}
	return proof, err
}

// killed are servers that a fault has killed.
type killed []nemesis.Restarter

// killAll records each kill before its signal, and returns when all are dead. It returns
// those that were killed also when it fails.
func killAll(ctx context.Context, w nemesis.World, nodes []nemesis.Node) (dead killed, proof string, err error) {
	var names []string
	for _, n := range nodes {
		s, ok := nemesis.As[nemesis.Restarter](n)
		if !ok {
			return dead, "", fmt.Errorf("lockstorm cannot restart server %s", n.Name())
		}
		if err := w.Killing("", n.Name()); err != nil {
			return dead, "", err
		}
		dead, names = append(dead, s), append(names, n.Name())
		if err := s.Kill(ctx); err != nil {
			return dead, "", err
		}
	}
	return dead, strings.Join(names, ", ") + " died of SIGKILL", nil
}

// restart starts again what was killed, all of it at once, whatever fails.
func (dead killed) restart(ctx context.Context) (string, error) {
	proofs, errs := make([]string, len(dead)), make([]error, len(dead))
	var wg sync.WaitGroup
	for i, s := range dead {
		wg.Go(func() { proofs[i], errs[i] = s.Restart(ctx) })
	}
	wg.Wait()
	return strings.Join(proofs, "; "), errors.Join(errs...)
}
