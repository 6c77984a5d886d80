package workloads

import (
	"context"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// The points that every section has, in the order in which they are reached.
const (
	BeforeAcquire = "before-acquire"
	Waiting       = backends.PointWaiting
	Acquired      = "acquired"
	BeforeRead    = "before-read"
	BeforeWrite   = "before-write"
	BeforeRelease = "before-release"
	Releasing     = "releasing"
)

// Points lists the points of every section.
func Points() []backends.Point {
	return []backends.Point{
		{Name: BeforeAcquire, Doc: "the acquire is not invoked yet"},
		{Name: Waiting, Doc: "the lock was found busy; the client begins to wait"},
		{Name: Acquired, Doc: "the lock was just granted"},
		{Name: BeforeRead, Doc: "the lease was checked; the read is about to leave"},
		{Name: BeforeWrite, Doc: "the lease was checked; the write is about to leave"},
		{Name: BeforeRelease, Doc: "the section is done; the release is not invoked yet"},
		{Name: Releasing, Doc: "the release is invoked and about to leave"},
	}
}

// Spot is where a client stands when it reaches a point.
type Spot struct {
	Lock     string
	Grant    string
	Deadline history.Opt // deadline in force
	Nodes    []string    // that granted, where the backend says so
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
