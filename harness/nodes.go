package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// node is a server as faults see it; what else it can do, its store's folder says.
type node struct{ *cluster.Server }

var (
	_ nemesis.Node      = node{}
	_ nemesis.Pauser    = node{}
	_ nemesis.Restarter = node{}
	_ nemesis.Clocker   = node{}
	_ nemesis.Disker    = node{}
	_ nemesis.Answerer  = node{}
)

// fleet is the servers of a topology that replaces its master.
type fleet struct{ cluster.Fleet }

var _ nemesis.Fleet = fleet{}

// Master is the node that those who decide take for the master.
func (f fleet) Master(ctx context.Context) (nemesis.Node, error) {
	s, err := f.Fleet.Master(ctx)
	if err != nil {
		return nil, err
	}
	return node{s}, nil
}

// FailOver asks for the master to be replaced.
func (f fleet) FailOver(ctx context.Context) error { return f.Promote(ctx) }

const fleetEvery = 5 * time.Millisecond

// Promoted waits for another master, by those who decide and by its own word.
func (f fleet) Promoted(ctx context.Context, old string) (nemesis.Node, error) {
	for {
		n, err := f.Master(ctx)
		if err == nil && n.Name() != old && history.Leads(n.Role()) {
			return n, nil
		}
		if !nemesis.Wait(ctx, fleetEvery) {
			return nil, errors.Join(fmt.Errorf("no other server was promoted to replace %s", old), err)
		}
	}
}
