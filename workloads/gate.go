package workloads

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
)

// Spot is where a client is when it reaches a point.
type Spot struct {
	Lock  string
	Grant string
	Lease string // lease of the grant; empty: there is none, or it is not known
	// Connection is the server's name for the connection of the grant; empty: none is known.
	Connection string
	Deadline   history.Opt // deadline in force
	Nodes      []string    // nodes that granted, where the backend reports them
}

// Gate is told of every point that is reached; it blocks while a fault holds the client. It must return fast if no
// fault is tied to the point.
type Gate interface {
	Reach(ctx context.Context, point string, at Spot)
}

// Open is the gate that holds no client.
type Open struct{}

// Reach returns at once.
func (Open) Reach(context.Context, string, Spot) {}
