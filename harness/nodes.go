package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/nemesis"
)

// node is a server as faults see it. One that holds data is a storeNode.
type node struct{ *cluster.Server }

var (
	_ nemesis.Node      = node{}
	_ nemesis.Pauser    = node{}
	_ nemesis.Restarter = node{}
	_ nemesis.Clocker   = node{}
	_ nemesis.Storer    = storeNode{}
)

// Data reports whether the server holds data.
func (n node) Data() bool { return n.Recipe().Role != cluster.RoleSentinel }

// storeNode can be told to forget.
type storeNode struct {
	node
	store cluster.Store
}

func asNode(s *cluster.Server) nemesis.Node {
	if st := s.Recipe().Store; st != nil {
		return storeNode{node{s}, st}
	}
	return node{s}
}

// Followers is how many replicas follow the server now.
func (n storeNode) Followers(ctx context.Context) (int, error) {
	return n.store.Followers(ctx, n.Addr())
}

// InSync reports whether the replicas have all that the server has.
func (n storeNode) InSync(ctx context.Context, replicas int) (bool, string, error) {
	return n.store.InSync(ctx, n.Addr(), replicas)
}

// Has says which keys exist.
func (n storeNode) Has(ctx context.Context, keys []string) ([]string, error) {
	return n.store.Has(ctx, n.Addr(), keys)
}

// Delete deletes keys.
func (n storeNode) Delete(ctx context.Context, keys []string) (int64, error) {
	return n.store.Delete(ctx, n.Addr(), keys)
}

// Flush deletes everything.
func (n storeNode) Flush(ctx context.Context) (int64, error) { return n.store.Flush(ctx, n.Addr()) }

// Evict fills the memory until the keys are gone.
func (n storeNode) Evict(ctx context.Context, policy string, keys []string) (string, error) {
	text, err := n.store.Evict(ctx, n.Addr(), policy, keys)
	if errors.Is(err, cluster.ErrNotEvicted) {
		return "", fmt.Errorf("%w: %w", nemesis.ErrTooLate, err)
	}
	return text, err
}

// MakeRoom takes away what Evict filled.
func (n storeNode) MakeRoom(ctx context.Context) error { return n.store.MakeRoom(ctx, n.Addr()) }

// fleet is the servers of a topology that replaces its master.
type fleet struct{ s *session }

var _ nemesis.Fleet = fleet{}

// supervisors are those who decide.
func (f fleet) supervisors() []*cluster.Server {
	var out []*cluster.Server
	for _, s := range f.s.cluster.Servers() {
		if s.Recipe().Supervisor != nil {
			out = append(out, s)
		}
	}
	return out
}

// Master is the node that most supervisors take for the master.
func (f fleet) Master(ctx context.Context) (nemesis.Node, error) {
	votes := map[string]int{}
	all := f.supervisors()
	var errs []error
	for _, s := range all {
		asking, cancel := context.WithTimeout(ctx, askLimit)
		addr, err := s.Recipe().Supervisor.Master(asking, s.Addr())
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name(), err))
			continue
		}
		if votes[addr]++; votes[addr] <= len(all)/2 {
			continue
		}
		for _, n := range f.s.cluster.Servers() {
			if n.Announced() == addr {
				return asNode(n), nil
			}
		}
	}
	return nil, errors.Join(append(errs, fmt.Errorf("no majority for one master: %v", votes))...)
}

const askLimit = 300 * time.Millisecond

// FailOver asks the first supervisor that answers.
func (f fleet) FailOver(ctx context.Context) error {
	var errs []error
	for _, s := range f.supervisors() {
		err := s.Recipe().Supervisor.FailOver(ctx, s.Addr())
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", s.Name(), err))
	}
	return errors.Join(errs...)
}

const fleetEvery = 5 * time.Millisecond

// Promoted waits for another master, by the majority and by its own word.
func (f fleet) Promoted(ctx context.Context, old string) (nemesis.Node, error) {
	for {
		n, err := f.Master(ctx)
		if err == nil && n.Name() != old && n.Role() == cluster.RoleMaster {
			return n, nil
		}
		if !wait(ctx, fleetEvery) {
			return nil, errors.Join(fmt.Errorf("nobody was promoted in the place of %s", old), err)
		}
	}
}
