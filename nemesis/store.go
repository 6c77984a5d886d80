package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
)

const paramPolicy = "policy"

// policies are those of Redis under which a lock can be evicted.
var policies = []string{"volatile-ttl", "volatile-lru", "volatile-lfu", "volatile-random", "allkeys-lru", "allkeys-lfu", "allkeys-random"}

func storeSpecs() []Spec {
	strike := func(int, []string) string { return "acquired" }
	return []Spec{
		{
			Name: "evict", Doc: "memory runs short on a server (maxmemory) and its policy evicts the lock's key",
			Proven: "The key was there and is gone while memory was full. Room is made again at once, for while it is short nobody can acquire anything.",
			Family: history.FamilyStore, Whom: Nodes, Strikes: strike, Fault: Evict{},
			Params: serverParams(atOnce, "2ttl", RoleMaster,
				catalog.Param{Name: paramPolicy, Default: policies[0], Doc: "maxmemory-policy of Redis"}),
		},
		{
			Name: "flush", Doc: "everything on a server is deleted (FLUSHALL)",
			Proven: "The server said how many keys there were and that they are deleted. There is nothing to heal.",
			Family: history.FamilyStore, Whom: Nodes, Strikes: strike, Params: serverParams(atOnce, "2ttl", RoleMaster), Fault: Flush{},
		},
		{
			Name: "delete-key", Doc: "an operator deletes the lock's key by mistake",
			Proven: "The server says that it deleted the key. There is nothing to heal.",
			Family: history.FamilyStore, Whom: Nodes, Strikes: strike, Params: serverParams(atOnce, "2ttl", RoleMaster), Fault: DeleteKey{},
		},
	}
}

// needsStore says what faults of the store lack.
func needsStore(s Setting, keys bool) error {
	switch {
	case needsServer(s) != nil:
		return needsServer(s)
	case !s.Stores:
		return fmt.Errorf("the servers of %s cannot be told to forget", s.Topology)
	case keys && !s.Keys:
		return fmt.Errorf("backend %s does not say under which keys its locks are", s.Backend)
	}
	return nil
}

// onStores does something to every target and joins what they say.
func onStores(t Target, do func(n Node, s Storer) (string, error)) (Effect, error) {
	var proofs []string
	for _, n := range t.Nodes {
		s, ok := n.(Storer)
		if !ok {
			return Effect{}, fmt.Errorf("node %s holds no data", n.Name())
		}
		proof, err := do(n, s)
		if err != nil {
			return Effect{}, fmt.Errorf("%s: %w", n.Name(), err)
		}
		proofs = append(proofs, n.Name()+" "+proof)
	}
	return Effect{Proof: strings.Join(proofs, "; ")}, nil
}

// struckKeys are the keys of the lock of the client at the point, or of all locks.
func struckKeys(w World, t Target) []string {
	if t.Hit != nil {
		return w.Keys(t.Hit.Lock)
	}
	return w.Keys("")
}

// Flush deletes everything that servers have.
type Flush struct{}

var _ Fault = Flush{}

// Available says whether there is a store.
func (Flush) Available(s Setting) error { return needsStore(s, false) }

// Inject flushes and says how many keys there were.
func (Flush) Inject(ctx context.Context, _ World, t Target) (Effect, error) {
	return onStores(t, func(_ Node, s Storer) (string, error) {
		n, err := s.Flush(ctx)
		return fmt.Sprintf("deleted all of its %d keys", n), err
	})
}

// DeleteKey deletes the keys of a lock. Where none exists it waits for one: it strikes
// what is held.
type DeleteKey struct{}

var _ Fault = DeleteKey{}

// Available says whether there is a store and what its keys are.
func (DeleteKey) Available(s Setting) error { return needsStore(s, true) }

// Inject deletes and says how many keys there were.
func (DeleteKey) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	keys := struckKeys(w, t)
	return onStores(t, func(_ Node, s Storer) (string, error) {
		for {
			n, err := s.Delete(ctx, keys)
			if err != nil || n > 0 {
				return fmt.Sprintf("deleted %d of %s", n, strings.Join(keys, ", ")), err
			}
			if !sleep(ctx, lookEvery) {
				return "", errors.New("none of " + strings.Join(keys, ", ") + " exists")
			}
		}
	})
}

const lookEvery = 5 * time.Millisecond

// Evict fills the memory of servers until they evict the keys of a lock, then makes room
// again: while memory is short nobody could acquire anything.
type Evict struct{}

var (
	_ Fault   = Evict{}
	_ Checker = Evict{}
)

// Available says whether there is a store that evicts.
func (Evict) Available(s Setting) error {
	if s.Provider == embeddedProvider {
		return errors.New("the embedded server never evicts: it needs redis-server")
	}
	return needsStore(s, true)
}

// embeddedProvider is the provider whose servers stand in for real ones.
const embeddedProvider = "embedded"

// Check reads the parameters.
func (Evict) Check(own catalog.Values, _ time.Duration) error {
	if p := own[paramPolicy]; !slices.Contains(policies, p) {
		return fmt.Errorf("%s=%s: choose one of %s", paramPolicy, p, strings.Join(policies, ", "))
	}
	return nil
}

// Inject fills until the keys are gone. Keys that do not exist have nothing to lose: it
// waits for them.
func (Evict) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	keys := struckKeys(w, t)
	e, err := onStores(t, func(_ Node, s Storer) (string, error) { return evict(ctx, s, t.Params[paramPolicy], keys) })
	e.Heal = func(ctx context.Context) (string, error) {
		e, err := onStores(t, func(_ Node, s Storer) (string, error) { return "has room again", s.MakeRoom(ctx) })
		return e.Proof, err
	}
	return e, err
}

func evict(ctx context.Context, s Storer, policy string, keys []string) (string, error) {
	for {
		found, err := s.Has(ctx, keys)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			text, err := s.Evict(ctx, policy, found)
			if !errors.Is(err, ErrTooLate) {
				return text, err
			}
		}
		if !sleep(ctx, lookEvery) {
			return "", errors.New("none of " + strings.Join(keys, ", ") + " exists for long enough")
		}
	}
}
