package workloads

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
)

// Spot is where a client stands when it reaches a point.
type Spot struct {
	Lock  string
	Grant string
	Lease string // that the grant is under; empty: it is not known, or there is none
	// Connection that the grant is on, as the server names it; empty: none that is known.
	Connection string
	Deadline   history.Opt // deadline in force
	Nodes      []string    // that granted, where the backend says so
}

// Gate is told of every point that is reached; it blocks where a fault holds the
// client. It must be quick when nothing is tied to the point.
type Gate interface {
	Reach(ctx context.Context, point string, at Spot)
}

// Open is the gate that holds nobody.
type Open struct{}

// Reach returns at once.
func (Open) Reach(context.Context, string, Spot) {}
