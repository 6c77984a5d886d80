// Package nemesis hurts clients and servers on purpose. A [Plan] is data, made from one
// seed by a pure function; a [Runner] carries it out against a [World]; each [Fault] is
// one file: it injects, proves that it took effect, and returns its own heal.
//
//	seed + specs -> NewPlan -> Plan (saved) -> Runner.Run -> fault events -> history
//	                                              |
//	                               World: clients, nodes, points
//
// Real processes replay the plan, not the interleaving.
package nemesis

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/params"
)

// Spec describes a fault.
type Spec struct {
	Name   string
	Doc    string
	Family string // history.Family constants; empty: hurts nobody
	Params []params.Param
	// Strikes chooses where the k-th step strikes when the user does not say: a point, or
	// Random.
	Strikes func(k int, own []string) string
	Fault   Fault
}

// EntryName is the name in the catalogue.
func (s Spec) EntryName() string { return s.Name }

// EntryDoc is the line that `list` shows.
func (s Spec) EntryDoc() string { return s.Doc }

// Catalogue is a list of faults by name.
type Catalogue = catalog.Catalog[Spec]

// Setting is what is known before anything runs: enough to say what cannot work.
type Setting struct {
	Backend  string
	Topology string
	Nodes    int // servers of the topology
}

// Fault is one way to hurt.
type Fault interface {
	// Available is nil when the fault can work in this setting; else it says why not.
	Available(s Setting) error
	// Inject hurts the targets and returns when the effect is proven.
	Inject(ctx context.Context, w World, t Target) (Effect, error)
}

// Gater is a Fault whose effect is that the client stays at its point: it is always
// tied to one, and the client goes on when it is healed.
type Gater interface{ Gates() }

// Effect is an injected fault.
type Effect struct {
	Proof string
	// Heal undoes the fault and says how that was seen; nil where there is nothing to undo.
	Heal func(ctx context.Context) (string, error)
}

// Target is whom a fault hurts, resolved at the moment of injection.
type Target struct {
	Clients []Client
	Nodes   []Node
	Hit     *Hit // the client that stands at a point, for tied faults
	For     time.Duration
}

// Client is a client process as faults see it.
type Client interface {
	Name() string
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

// Node is a server as faults see it. What can be done to it is found by type assertion:
// [Pauser], [Restarter].
type Node interface {
	Name() string
	Role() string
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

// Hit is a client that stands at a point and waits to be let go.
type Hit struct {
	Client   Client
	Point    string
	Lock     string
	Grant    string
	Deadline history.Opt
	Go       func() // lets it go on; further calls do nothing
}

// World is the run that faults act on.
type World interface {
	// Clients lists the living clients in the order in which they were started.
	Clients() []Client
	Nodes() []Node
	// Arm waits until one of the clients reaches the point for the nth time from now
	// (any point, where it is empty) and keeps it there.
	Arm(ctx context.Context, a Arm) (*Hit, error)
	// Granted waits until a client other than the named one was granted the lock after
	// the moment.
	Granted(ctx context.Context, lock, not string, after int64) error
	// Replace starts a new client in the place of one that was killed, and names it.
	Replace(ctx context.Context, killed Client) (string, error)
	// Killing records that the client or node is about to be killed.
	Killing(client, node string) error
	// TTL is the time to live of the run's leases.
	TTL() time.Duration
}

// Arm asks for a client at a point.
type Arm struct {
	Point   string   // empty: any
	Nth     int      // from 1
	Clients []string // empty: any
}
