package nemesis

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
)

// World is the run that faults act on.
type World interface {
	// Clients lists the living clients in the order in which they were started.
	Clients() []Client
	Nodes() []Node
	// Arm waits until one of the clients reaches the point for the nth time from now
	// (any point, where it is empty) and keeps it there.
	Arm(ctx context.Context, a Arm) (*Hit, error)
	// ArmAll waits until every living client stands at the point and keeps them there.
	ArmAll(ctx context.Context, point string) ([]*Hit, error)
	// Granted waits until a client other than the named one was granted the lock after
	// the moment.
	Granted(ctx context.Context, lock, not string, after int64) error
	// Replace starts a new client in the place of one that was killed, and names it.
	Replace(ctx context.Context, killed Client) (string, error)
	// Killing records that the client or node is about to be killed.
	Killing(client, node string) error
	// TTL is the time to live of the run's leases.
	TTL() time.Duration
	// Now is the run's clock.
	Now() int64
	// Net is the links between the parties, by the names of clients and nodes and
	// history.PartyRegister.
	Net() *link.Network
	// Fleet is nil where nobody replaces masters.
	Fleet() Fleet
	// Keys are the names under which the store keeps a lock; with an empty name, all locks.
	Keys(lock string) []string
	// Dir is the folder that all clients share: the Dir of backends and workloads.
	Dir() string
}

// Client is a client process as faults see it.
type Client interface {
	Name() string
	// Pid is the id of its process, and of its process group.
	Pid() int
	// Pause stops every thread of the client's process group; the text is the proof.
	Pause(ctx context.Context) (string, error)
	Resume(ctx context.Context) (string, error)
	// Kill ends the process group with SIGKILL and waits for it.
	Kill(ctx context.Context) error
	// Doing is what the client's log says it is doing.
	Doing() Doing
}

// Doing is a client's state by its own log.
type Doing string

// The states of a client.
const (
	Idle      Doing = "idle"
	Waits     Doing = "waiting"
	Holds     Doing = "holding"
	Releasing Doing = "releasing"
)

// Collector is a client whose lock can be stopped by the collector of its own language.
type Collector interface {
	// Collect makes the collector run for so long, and returns when it has; the text is the proof.
	Collect(ctx context.Context, length time.Duration) (string, error)
}

// Node is a server as faults see it. What else can be done to it is found with [As].
type Node interface {
	Name() string
	Addr() string // where it listens now, past all links
	Role() string // that it claims now
	Data() bool   // whether it holds data: others are hurt only when they are named
	// Admin is what its store provides: see the capabilities of package cluster.
	Admin() any
}

// As finds a capability: of the node itself ([Pauser], [Restarter], [Clocker], [Answerer]), or
// of its store.
func As[T any](n Node) (can T, ok bool) {
	if can, ok = n.(T); ok {
		return can, true
	}
	can, ok = n.Admin().(T)
	return can, ok
}

// Pauser is a node that can be stopped and resumed.
type Pauser interface {
	Pause(ctx context.Context) (string, error)
	Resume(ctx context.Context) (string, error)
}

// Restarter is a node that can be killed and started again with what it kept.
type Restarter interface {
	Kill(ctx context.Context) error
	Restart(ctx context.Context) (string, error)
}

// Clocker is a node whose wall clock can jump; the text is the proof.
type Clocker interface {
	Jump(ctx context.Context, by time.Duration) (string, error)
}

// Answerer is a node of which it is known what its answers say.
type Answerer interface {
	// Refusal tells the answers by which nothing was done; nil where nobody can.
	Refusal() func(answer []byte) bool
}

// Fleet is servers whose master is replaced when it fails.
type Fleet interface {
	// Master is the node that those who decide take for the master.
	Master(ctx context.Context) (Node, error)
	// FailOver asks for the master to be replaced.
	FailOver(ctx context.Context) error
	// Promoted waits until another node than the old one is master, by the majority of those
	// who decide and by its own word.
	Promoted(ctx context.Context, old string) (Node, error)
}

// Hit is a client that stands at a point and waits to be let go.
type Hit struct {
	Client Client
	Point  string
	Lock   string
	Grant  string
	Lease  string // that the grant is under, where it has one
	// Connection that the grant is on, as the server names it; empty: none that is known.
	Connection string
	Deadline   history.Opt
	Nodes      []string // that granted, where the backend says so
	Go         func()   // lets it go on; further calls do nothing
}

// AllNodes stands for the number of all nodes in [Arm].
const AllNodes = -1

// Arm asks for a client at a point.
type Arm struct {
	Point   string   // empty: any
	Nth     int      // from 1
	Message string   // at a message: part of the request; empty: any
	Clients []string // empty: any
	// GrantedBy: only under a grant that so many nodes gave, where the backend says who did;
	// 0 is any, AllNodes every one.
	GrantedBy int
	// Armed, when set, is called once the clients were told. A client takes its messages in
	// order: what it is told after that arrives after the arm.
	Armed func()
}
