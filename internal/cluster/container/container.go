// Package container starts servers in Docker containers, by the program lockstorm-servers (see docs/providers.md), so that a
// program with these containers need not be built with Docker's libraries.
package container

import (
	"context"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/companion/wire"
)

// New returns the provider of one run, which has started nothing yet. If it is an [io.Closer], close it after the run.
func New(o cluster.ContainerOptions) cluster.Provider { return &provider{o: o} }

// ask asks Docker for what has to do with no run.
func ask(ctx context.Context, what string) (wire.Answer, error) {
	var p provider
	a, err := p.call(ctx, wire.Call{What: what})
	if ended := p.end(); err == nil {
		err = ended
	}
	return a, err
}

// State returns the version of Docker here and, for each image of the table, the image used for it. The error says
// why no server could be run.
func State(ctx context.Context) (version string, images map[string]string, err error) {
	a, err := ask(ctx, wire.State)
	return a.Text, a.Words, err
}

// Leftovers returns the runs that have containers or networks here but no living lockstorm on this host.
func Leftovers(ctx context.Context) ([]cluster.Leftover, error) {
	a, err := ask(ctx, wire.Leftovers)
	return a.Left, err
}

// Clean removes the leftovers of dead runs of this host and returns them.
func Clean(ctx context.Context) ([]cluster.Leftover, error) {
	a, err := ask(ctx, wire.Clean)
	return a.Left, err
}
