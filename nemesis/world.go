package nemesis

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
)

// World is the run that faults act on.
type World interface {
	// Clients returns the living clients in the order in which they were started.
	Clients() []Client
	Nodes() []Node
	// Arm waits until one of the clients reaches the point for the nth time from now (any point if it is empty) and
	// keeps it there.
	Arm(ctx context.Context, a Arm) (*Hit, error)
	// ArmAll waits until every living client is at the point and keeps them there.
	ArmAll(ctx context.Context, point string) ([]*Hit, error)
	// Granted waits until a client other than the named one was granted the lock after the given time.
	Granted(ctx context.Context, lock, not string, after int64) error
	// Replace starts a new client in the place of a killed one and returns its name.
	Replace(ctx context.Context, killed Client) (string, error)
	// Killing records that the client or node is about to be killed.
	Killing(client, node string) error
	// TTL returns the time to live of the run's leases.
	TTL() time.Duration
	// Now returns the time of the run's clock.
	Now() int64
	// Net returns the links between the parties, by the names of clients and nodes and history.PartyRegister.
	Net() *link.Network
	// Fleet returns the servers whose master is replaced; nil: none are.
	Fleet() Fleet
	// Keys returns the names under which the store keeps a lock; for an empty name, all locks.
	Keys(lock string) []string
	// Dir returns the folder that all clients share: the Dir of backends and workloads.
	Dir() string
}

// Client is a client process as faults see it.
type Client interface {
	Name() string
	// Pid returns the id of its process and process group.
	Pid() int
	// Pause stops every thread of the client's process group and returns the proof.
	Pause(ctx context.Context) (string, error)
	Resume(ctx context.Context) (string, error)
	// Kill ends the process group with SIGKILL and waits for it.
	Kill(ctx context.Context) error
	// Doing returns what the client is doing by its log.
	Doing() Doing
}

// Doing is a client's state by its own log.
type Doing string

// States of a client.
const (
	Idle      Doing = "idle"
	Waits     Doing = "waiting"
	Holds     Doing = "holding"
	Releasing Doing = "releasing"
)

// Collector is a client whose lock the garbage collector of its own language can stop.
type Collector interface {
	// Collect runs the collector for length and returns when it is done; the text is the proof.
	Collect(ctx context.Context, length time.Duration) (string, error)
}

// Node is a server as faults see it. Find what else can be done to it with [As].
type Node interface {
	Name() string
	Addr() string // returns where it listens now, past all links
	Role() string // returns the role that it claims now
	Data() bool   // reports whether it holds data: other nodes are hurt only if they are named
	// Admin returns what its store provides: see the capabilities of package cluster.
	Admin() any
}

// Hidden reports whether clients reach a node only through others.
func Hidden(n Node) bool {
	h, ok := n.(interface{ Hidden() bool })
	return ok && h.Hidden()
}

// As returns a capability of the node itself ([Pauser], [Restarter], [Clocker], [Disker], [Answerer]), or of its store.
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

// Restarter is a node that can be killed and started again with the data it kept.
type Restarter interface {
	Kill(ctx context.Context) error
	Restart(ctx context.Context) (string, error)
}

// Clocker is a node whose wall clock can jump; the text is the proof.
type Clocker interface {
	Jump(ctx context.Context, by time.Duration) (string, error)
}

// Disker is a node whose files are on a disk that can lose its power.
type Disker interface {
	// Synced waits until what the servers wrote before the first grant is durable.
	Synced(ctx context.Context) error
	// LosePower throws away what a killed node has not made durable, but for what keeps leaves of it (drawn from draw), and says
	// what that was, and which of the words was in it; empty: there was nothing to lose.
	LosePower(ctx context.Context, keeps string, draw uint64, words []string) (lost string, err error)
}

// Answerer is a node whose answers can be recognized on the wire.
type Answerer interface {
	// Refusal returns the function that recognizes answers by which nothing was done; nil if there is none.
	Refusal() func(answer []byte) bool
}

// Fleet is servers whose master is replaced when it fails.
type Fleet interface {
	// Master returns the node that the deciding servers take for the master.
	Master(ctx context.Context) (Node, error)
	// FailOver has the master replaced.
	FailOver(ctx context.Context) error
	// Promoted waits until a node other than the old one is master, by the majority of the deciding servers and by its
	// own word.
	Promoted(ctx context.Context, old string) (Node, error)
}

// Hit is a client that waits at a point to be let go.
type Hit struct {
	Client Client
	Point  string
	Lock   string
	Grant  string
	Lease  string // lease of the grant, if it has one
	// Connection is the server's name for the connection of the grant; empty: none is known.
	Connection string
	Deadline   history.Opt
	Nodes      []string // nodes that granted, where the backend reports them
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
	// GrantedBy limits it to grants by so many nodes, where the backend reports them; 0 is any, AllNodes every one.
	GrantedBy int
	// Armed, if set, is called once the clients were told. A client takes its messages in order: later messages arrive
	// after the arm.
	Armed func()
}
