package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

func failoverKillSpec() nemesis.Spec {
	return nemesis.Spec{
		Name: "failover-kill", Doc: "kills the master before its replicas have the lock: cuts replication, lets a client acquire, " +
			"kills the master (kill -9); the supervisors promote a replica",
		Notes: "The holder is kept at `acquired` until another client is granted the lock, or 0.9 of its lease is over.",
		Proven: "The master died of SIGKILL; a majority of the supervisors chose another, which reports itself as master and never " +
			"had the key. If nobody got the lock within one ttl, the master is killed anyway, and the record says so.",
		End:    "The old master is started, the links restored.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: killTakes,
		Fault: fault{canFailoverKill, injectFailoverKill}, Strikes: func(int, []string) string { return history.AtRandom },
		Params: append(nemesis.TimeParams("0.5ttl", "4ttl"), nemesis.NodesParam(nemesis.RoleMaster)),
	}
}

// killTakes has room for all clients to end their sections, too, and for one that is not
// granted the lock for a lease's time.
func killTakes(ttl time.Duration) time.Duration { return failoverTakes(ttl) + ttl*3/2 }

// canFailoverKill says whether somebody replaces masters that do not wait for their replicas.
func canFailoverKill(s nemesis.Setting) error {
	return cmp.Or(needsFleet(s), lack(s.Follows && s.Keys,
		"this fault needs a leader that grants a lock before its followers know of "+
			"the lock, and a lock whose keys lockstorm knows: backend %s on topology %s lacks at least one of these two. Use leader-kill",
		s.Backend, s.Topology))
}

// injectFailoverKill makes the loss of a lock in a fail-over certain:
//
//	all clients stand at before-acquire, the lock is free, the replicas have everything
//	replication is cut -> one client acquires -> the master is killed -> the others go on
//	a replica without the key is promoted -> another client acquires
//
// A lock that is not granted without its replicas is not granted here: then the master
// dies while the client tries.
// It does all of it, and returns when the second client was granted or the first
// one's lease is nearly over.
func injectFailoverKill(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	master, err := theMaster(ctx, w, t)
	if err != nil {
		return nemesis.Effect{}, err
	}
	k := &failoverKill{w: w, master: master}
	k.promote = func(ctx context.Context, since int64) (nemesis.Node, string, error) {
		return promoted(ctx, w, master.Name(), since)
	}
	k.back = func(ctx context.Context) (string, error) { return k.dead.restart(ctx) }
	defer k.letGo()
	proof, err := k.strike(ctx, t)
	return nemesis.Effect{Proof: proof, Heal: k.heal, Began: k.began}, err
}

// failoverKill is the fault while it is at work.
type failoverKill struct {
	w      nemesis.World
	master nemesis.Node
	hits   []*nemesis.Hit // the clients at before-acquire
	holder *nemesis.Hit   // the one that was granted; nil: none
	broken broken
	dead   killed
	began  int64 // when replication was about to be cut; 0: it was not

	promote func(ctx context.Context, since int64) (heir nemesis.Node, proof string, err error)
	back    func(ctx context.Context) (string, error) // of the old master
}

// letGo lets everybody go that still stands.
func (k *failoverKill) letGo() {
	for _, h := range k.hits {
		h.Go()
	}
	if k.holder != nil {
		k.holder.Go()
	}
}

// strike carries it out and returns the proof.
func (k *failoverKill) strike(ctx context.Context, t nemesis.Target) (string, error) {
	if err := k.prepare(ctx); err != nil {
		return "", err
	}
	if err := k.letOneAcquire(ctx, k.hits[int(t.Draw%uint64(len(k.hits)))]); err != nil {
		return "", err
	}
	lacking, err := k.lacking(ctx)
	if err != nil {
		return "", err
	}
	since := k.w.Now()
	dead, proof, err := killAll(ctx, k.w, t.Nodes)
	k.dead = dead
	if err != nil {
		return "", err
	}
	for _, h := range k.hits {
		h.Go()
	}
	// The holder goes on as soon as another one is granted: those who decide may agree on the
	// new master only after clients have found it.
	var stays sync.WaitGroup
	defer stays.Wait()
	if k.holder != nil {
		stays.Go(func() { nemesis.Stay(ctx, k.w, k.holder, since, nemesis.LeaseLeft(k.w, k.holder)) })
	}
	heir, text, err := k.promote(ctx, since)
	if err != nil {
		return "", err
	}
	return k.proof(proof, text, heir, lacking)
}

// prepare has every client stand before its acquire, lets the replicas catch up, and cuts
// them off.
func (k *failoverKill) prepare(ctx context.Context) error {
	var err error
	if k.hits, err = k.w.ArmAll(ctx, history.AtBeforeAcquire); err != nil {
		return fmt.Errorf("some clients did not reach the point %s in time: %w", history.AtBeforeAcquire, err)
	}
	if len(k.hits) == 0 {
		return errors.New("there is no client that could acquire the lock")
	}
	if err := k.settle(ctx); err != nil {
		return err
	}
	k.began = k.w.Now()
	return k.broken.unfollow(ctx, k.w, k.master, catalog.Values{paramMode: modeCut})
}

// proof says what happened to whom.
func (k *failoverKill) proof(killed, promotion string, heir nemesis.Node, lacking []string) (string, error) {
	if k.holder == nil {
		return killed + ", but no client held the lock, because no client was granted the lock within one ttl; " + promotion, nil
	}
	if len(k.w.Keys(k.holder.Lock)) == 0 {
		return fmt.Sprintf("%s while %s held the lock; the replica had been cut off before the grant; %s", killed,
			k.holder.Client.Name(), promotion), nil
	}
	if !slices.Contains(lacking, heir.Name()) {
		return "", fmt.Errorf("the fault did not work: the promoted server %s already had the key of %s, so the lock was not lost",
			heir.Name(), k.holder.Client.Name())
	}
	return fmt.Sprintf("%s while %s held the lock; the key %s was never on %s; %s", killed, k.holder.Client.Name(),
		strings.Join(k.w.Keys(k.holder.Lock), ", "), strings.Join(lacking, ", "), promotion), nil
}

// heal lets replication through again and starts the old master.
func (k *failoverKill) heal(ctx context.Context) (string, error) {
	text, err := k.broken.mend(ctx)
	again, startErr := k.back(ctx)
	return strings.Trim(text+"; "+again, "; "), errors.Join(err, startErr)
}

// settle waits until every replica has all that the master has.
func (k *failoverKill) settle(ctx context.Context) error {
	l, err := leaderOf(k.master)
	if err != nil {
		return err
	}
	followers, err := l.Followers(ctx)
	if err != nil {
		return err
	}
	if followers == 0 {
		return fmt.Errorf("%s has no replica that could take the place of a dead master", k.master.Name())
	}
	var text string
	err = nemesis.Until(ctx, func() (inSync bool, err error) {
		inSync, text, err = l.InSync(ctx, followers)
		return inSync, err
	})
	if err != nil && ctx.Err() != nil {
		return errors.New("the replicas do not catch up with the master: " + text)
	}
	if err == nil {
		k.broken.proofs = append(k.broken.proofs, text)
	}
	return err
}

// letOneAcquire lets one client go and keeps it where it is granted; nobody is kept when it
// is not granted within a lease's time.
func (k *failoverKill) letOneAcquire(ctx context.Context, h *nemesis.Hit) error {
	waiting, cancel := context.WithTimeout(ctx, k.w.TTL())
	defer cancel()
	holder, err := k.w.Arm(waiting, nemesis.Arm{Point: history.AtAcquired, Nth: 1, Clients: []string{h.Client.Name()}, Armed: h.Go})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	k.holder = holder
	return err
}

// lacking is the replicas that do not have the key of the holder, before the master dies.
func (k *failoverKill) lacking(ctx context.Context) (without []string, err error) {
	if k.holder == nil {
		return nil, nil
	}
	keys := k.w.Keys(k.holder.Lock)
	for _, n := range k.w.Nodes() {
		s, ok := nemesis.As[cluster.Keeper](n)
		if !ok || !n.Data() || n.Name() == k.master.Name() {
			continue
		}
		found, err := s.Has(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("cannot ask server %s whether it has the lock's key: %w", n.Name(), err)
		}
		if len(found) == 0 {
			without = append(without, n.Name())
		}
	}
	return without, nil
}
