package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
)

// failoverTakes is the room that a plan leaves for an injection that waits for a
// fail-over.
func failoverTakes(time.Duration) time.Duration { return 3 * time.Second }

// killTakes has room for all clients to end their sections, too, and for one that is not
// granted the lock for a lease's time.
func killTakes(ttl time.Duration) time.Duration { return failoverTakes(ttl) + ttl*3/2 }

func failoverSpecs() []Spec {
	master := nodesParam(RoleMaster)
	return []Spec{
		{
			Name: "failover-kill", Doc: "the master dies before its replicas have the lock: replication is cut, one client acquires, kill -9, promotion",
			Proven: "The master has died, the replicas did not have the holder's key, most Sentinels name another master and it says so itself. The client that was granted stays at `acquired` until another one is granted or 0.9 of its lease is over. The heal starts the old master and lets replication through.",
			Family: history.FamilyServer, Whom: Nodes, Strikes: strikeRandom, Takes: killTakes, Fault: FailoverKill{},
			Params: append(common("0.5ttl", "4ttl")[2:], master),
		},
		{
			Name: "failover-pause", Doc: "the master is stopped (SIGSTOP) until it is deposed, and then resumed",
			Proven: "Every thread of the master is in state T, and another master is named by most Sentinels and says so itself. The heal resumes the old one, which still takes itself for the master.",
			Family: history.FamilyServer, Whom: Nodes, Strikes: strikeGrant, Takes: failoverTakes, Fault: FailoverPause{},
			Params: serverParams("0.5ttl", "4ttl", RoleMaster),
		},
		{
			Name: "failover-planned", Doc: "an operator has the master replaced although it is well (SENTINEL FAILOVER)",
			Proven: "Another master is named by most Sentinels and says so itself. There is nothing to heal.",
			Family: history.FamilyServer, Whom: Nodes, Strikes: strikeGrant, Takes: failoverTakes, Fault: FailoverPlanned{},
			Params: serverParams(atOnce, "3ttl", RoleMaster),
		},
		{
			Name: "isolate-master", Doc: "split brain: the master, a Sentinel and half of the clients on one side, all others on the other",
			Proven: "Every link between the two sides is cut, and the other side has a master of its own: the proof names both and what each says of itself. The heal lets all links carry again.",
			Family: history.FamilyLink, Whom: Nodes, Links: ToServers, Strikes: strikeGrant, Takes: failoverTakes, Fault: IsolateMaster{},
			Params: serverParams("1.5ttl", "4ttl", RoleMaster),
		},
	}
}

func strikeRandom(int, []string) string { return Random }

// needsFleet says what a fail-over lacks.
func needsFleet(s Setting) error {
	if s.FailOver == 0 {
		return fmt.Errorf("on %s nobody replaces a master: it needs a topology with Sentinels", s.Topology)
	}
	return nil
}

// theMaster is the only target, which must be the master: a promotion in the place of
// anybody else proves nothing.
func theMaster(ctx context.Context, w World, t Target) (Node, error) {
	m, err := w.Fleet().Master(ctx)
	if err != nil {
		return nil, err
	}
	if len(t.Nodes) != 1 || t.Nodes[0].Name() != m.Name() {
		return nil, fmt.Errorf("the target is not the master, which is %s: leave nodes=master", m.Name())
	}
	return m, nil
}

// promoted waits for another master and says who it is and how long it took.
func promoted(ctx context.Context, w World, old string, since int64) (Node, string, error) {
	n, err := w.Fleet().Promoted(ctx, old)
	if err != nil {
		return nil, "", err
	}
	return n, fmt.Sprintf("%s was promoted after %v", n.Name(), time.Duration(w.Now()-since).Round(time.Millisecond)), nil
}

// FailoverPause stops the master until another one is in its place. Resumed, it still
// takes itself for the master until it is told.
type FailoverPause struct{}

var (
	_ Fault    = FailoverPause{}
	_ OfMaster = FailoverPause{}
)

// StrikesMaster says that only the master can be a target.
func (FailoverPause) StrikesMaster() {}

// Available says whether somebody replaces masters.
func (FailoverPause) Available(s Setting) error { return needsFleet(s) }

// Inject stops the master and waits for the promotion.
func (FailoverPause) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	if _, err := theMaster(ctx, w, t); err != nil {
		return Effect{}, err
	}
	since := w.Now()
	e, err := ServerPause{}.Inject(ctx, w, t)
	if err != nil {
		return e, err
	}
	_, text, err := promoted(ctx, w, t.Nodes[0].Name(), since)
	e.Proof += "; " + text
	return e, err
}

// FailoverPlanned has a living master replaced.
type FailoverPlanned struct{}

var (
	_ Fault    = FailoverPlanned{}
	_ OfMaster = FailoverPlanned{}
)

// StrikesMaster says that only the master can be a target.
func (FailoverPlanned) StrikesMaster() {}

// Available says whether somebody replaces masters.
func (FailoverPlanned) Available(s Setting) error { return needsFleet(s) }

// Inject asks for it and waits for the promotion.
func (FailoverPlanned) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	if _, err := theMaster(ctx, w, t); err != nil {
		return Effect{}, err
	}
	since := w.Now()
	if err := w.Fleet().FailOver(ctx); err != nil {
		return Effect{}, err
	}
	_, text, err := promoted(ctx, w, t.Nodes[0].Name(), since)
	return Effect{Proof: "in the place of " + t.Nodes[0].Name() + " " + text}, err
}

// IsolateMaster splits everybody into two groups that cannot reach each other:
//
//	master, sentinel, c1, c2   X   replicas, sentinels, c3, c4, c5
//
// Both sides have a master in the end.
type IsolateMaster struct{}

var (
	_ Fault    = IsolateMaster{}
	_ OfMaster = IsolateMaster{}
)

// StrikesMaster says that only the master can be a target.
func (IsolateMaster) StrikesMaster() {}

// Available says whether somebody replaces masters.
func (IsolateMaster) Available(s Setting) error { return needsFleet(s) }

// Inject cuts every link between the groups and waits until the other side has a master
// of its own.
func (IsolateMaster) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	old, err := theMaster(ctx, w, t)
	if err != nil {
		return Effect{}, err
	}
	since := w.Now()
	inside := isolated(w, t)
	var b broken
	var parties []string
	var clients []string
	for _, c := range w.Clients() {
		parties = append(parties, c.Name())
		if inside[c.Name()] {
			clients = append(clients, c.Name())
		}
	}
	for _, n := range w.Nodes() {
		parties = append(parties, n.Name())
	}
	for _, n := range w.Nodes() {
		for _, from := range parties {
			if inside[from] == inside[n.Name()] {
				continue
			}
			if err := b.cut(ctx, w.Net().Link(from, n.Name())); err != nil {
				return b.effect(), err
			}
		}
	}
	heir, text, err := promoted(ctx, w, old.Name(), since)
	if err != nil {
		return b.effect(), err
	}
	e := b.effect()
	if role := old.Role(); role != RoleMaster {
		return e, fmt.Errorf("%s is isolated and answers as %s, not as master", old.Name(), role)
	}
	e.Proof = fmt.Sprintf("%d links are cut: %s on one side with %s; on the other side %s; both %s and %s answer as master",
		len(b.mends), old.Name(), strings.Join(clients, ", "), text, old.Name(), heir.Name())
	return e, nil
}

// isolated are the master, one Sentinel, and half of the clients: the one at the point
// among them.
func isolated(w World, t Target) map[string]bool {
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
	var others []Client
	for _, c := range all {
		if !inside[c.Name()] {
			others = append(others, c)
		}
	}
	for _, c := range drawn(others, n, t.Draw) {
		inside[c.Name()] = true
	}
	return inside
}

// FailoverKill makes the loss of a lock in a fail-over certain:
//
//	all clients stand at before-acquire, the lock is free, the replicas have everything
//	replication is cut -> one client acquires -> the master is killed -> the others go on
//	a replica without the key is promoted -> another client acquires
//
// A lock that is not granted without its replicas is not granted here: then the master
// dies while the client tries.
type FailoverKill struct{}

var (
	_ Fault    = FailoverKill{}
	_ OfMaster = FailoverKill{}
)

// StrikesMaster says that only the master can be a target.
func (FailoverKill) StrikesMaster() {}

// Available says whether somebody replaces masters.
func (FailoverKill) Available(s Setting) error { return needsFleet(s) }

// Inject does all of it, and returns when the second client was granted or the first
// one's lease is nearly over.
func (FailoverKill) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	master, err := theMaster(ctx, w, t)
	if err != nil {
		return Effect{}, err
	}
	k := &failoverKill{w: w, master: master}
	e := Effect{Heal: k.heal}
	hits, err := w.ArmAll(ctx, "before-acquire")
	defer func() {
		for _, h := range hits {
			h.Go()
		}
	}()
	if err != nil {
		return e, fmt.Errorf("not every client came to before-acquire: %w", err)
	}
	if len(hits) == 0 {
		return e, errors.New("there is no client that could acquire")
	}
	if err := k.settle(ctx); err != nil {
		return e, err
	}
	if err := k.broken.unfollow(ctx, w, master, catalog.Values{paramMode: modeCut}); err != nil {
		return e, err
	}
	holder, err := k.letOneAcquire(ctx, hits[int(t.Draw%uint64(len(hits)))])
	if holder != nil {
		defer holder.Go()
	}
	if err != nil {
		return e, err
	}
	lacking, err := k.lacking(ctx, holder)
	if err != nil {
		return e, err
	}
	since := w.Now()
	dead, proof, err := killAll(ctx, w, t.Nodes)
	k.dead = dead
	if err != nil {
		return e, err
	}
	for _, h := range hits {
		h.Go()
	}
	// The holder goes on as soon as another one is granted: Sentinels may agree on the new
	// master only after clients have found it.
	var stays sync.WaitGroup
	defer stays.Wait()
	if holder != nil {
		stays.Go(func() {
			defer holder.Go()
			k.stay(ctx, holder, since)
		})
	}
	heir, text, err := promoted(ctx, w, master.Name(), since)
	if err != nil {
		return e, err
	}
	e.Proof = proof + " while nobody was granted the lock within a ttl; " + text
	if holder != nil {
		if !slices.Contains(lacking, heir.Name()) {
			return e, fmt.Errorf("%s was promoted, which had the key of %s", heir.Name(), holder.Client.Name())
		}
		e.Proof = fmt.Sprintf("%s while %s held the lock; its key %s was never on %s; %s", proof, holder.Client.Name(),
			strings.Join(w.Keys(holder.Lock), ", "), strings.Join(lacking, ", "), text)
	}
	return e, nil
}

// failoverKill is the fault while it is at work.
type failoverKill struct {
	w      World
	master Node
	broken broken
	dead   []Restarter
}

// heal lets replication through again and starts the old master.
func (k *failoverKill) heal(ctx context.Context) (string, error) {
	text, err := k.broken.mend(ctx)
	again, startErr := restartAll(ctx, k.dead)
	return strings.Trim(text+"; "+again, "; "), errors.Join(err, startErr)
}

// settle waits until every replica has all that the master has.
func (k *failoverKill) settle(ctx context.Context) error {
	s, ok := k.master.(Storer)
	if !ok {
		return fmt.Errorf("node %s holds no data", k.master.Name())
	}
	followers, err := s.Followers(ctx)
	if err != nil {
		return err
	}
	if followers == 0 {
		return fmt.Errorf("%s has no replica that could take its place", k.master.Name())
	}
	for {
		inSync, text, err := s.InSync(ctx, followers)
		if err != nil {
			return err
		}
		if inSync {
			k.broken.proofs = append(k.broken.proofs, text)
			return nil
		}
		if !sleep(ctx, lookEvery) {
			return errors.New("the replicas do not catch up: " + text)
		}
	}
}

// letOneAcquire lets one client go and keeps it where it is granted; nil when it is not
// granted within a lease's time.
func (k *failoverKill) letOneAcquire(ctx context.Context, h *Hit) (*Hit, error) {
	waiting, cancel := context.WithTimeout(ctx, k.w.TTL())
	defer cancel()
	holder, err := k.w.Arm(waiting, Arm{Point: "acquired", Nth: 1, Clients: []string{h.Client.Name()}, Armed: h.Go})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, nil
	}
	return holder, err
}

// lacking is the replicas that do not have the key of the holder, before the master dies.
func (k *failoverKill) lacking(ctx context.Context, holder *Hit) (without []string, err error) {
	if holder == nil {
		return nil, nil
	}
	keys := k.w.Keys(holder.Lock)
	for _, n := range k.w.Nodes() {
		s, ok := n.(Storer)
		if !ok || n.Name() == k.master.Name() {
			continue
		}
		found, err := s.Has(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("ask %s for the key: %w", n.Name(), err)
		}
		if len(found) == 0 {
			without = append(without, n.Name())
		}
	}
	return without, nil
}

// stay keeps the first holder until another one is granted, at most for 0.9 of its lease.
func (k *failoverKill) stay(ctx context.Context, holder *Hit, since int64) {
	limit := k.w.TTL()
	if holder.Deadline.Set {
		limit = time.Duration(holder.Deadline.V-k.w.Now()) - time.Duration((1-stayPart)*float64(k.w.TTL()))
	}
	waiting, cancel := context.WithTimeout(ctx, max(limit, 0))
	defer cancel()
	// Granted or not, the client goes on: the history says which it was.
	_ = k.w.Granted(waiting, holder.Lock, holder.Client.Name(), since)
}
