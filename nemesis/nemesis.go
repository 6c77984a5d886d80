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
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis/link"
)

// Spec describes a fault.
type Spec struct {
	Name   string
	Doc    string
	Family string // history.Family constants; empty: hurts nobody
	Whom   Whom
	Links  Links
	Params []catalog.Param
	// Proven is how its effect is proven and what its heal does, in a sentence or two.
	Proven string
	// Takes is how long an injection may take beyond its `for`, with leases of the ttl: the
	// plan leaves room for it. Nil is not worth mentioning.
	Takes func(ttl time.Duration) time.Duration
	// Strikes chooses where the k-th step strikes when the user does not say: a point, or
	// Random.
	Strikes func(k int, own []string) string
	Fault   Fault
}

// EntryName is the name in the catalogue.
func (s Spec) EntryName() string { return s.Name }

// EntryDoc is the line that `list` shows.
func (s Spec) EntryDoc() string { return s.Doc }

// takes is Takes, or nothing.
func (s Spec) takes(ttl time.Duration) time.Duration {
	if s.Takes == nil {
		return 0
	}
	return s.Takes(ttl)
}

// Catalogue is a list of faults by name.
type Catalogue = catalog.Catalog[Spec]

// Whom is what kind of targets a fault has.
type Whom int

// The kinds of targets.
const (
	Clients         Whom = 1 << iota // chosen by `clients`
	Nodes                            // chosen by `nodes`
	ClientsAndNodes = Clients | Nodes
)

// Links are the links of clients that a fault may touch; those that no fault of the plan
// touches lead past toxiproxy.
type Links int

// The links of a client.
const (
	ToServers  Links = 1 << iota // to every server
	ToRegister                   // to the protected resource
)

// Setting is what is known before anything runs: enough to say what cannot work.
type Setting struct {
	Backend  string
	Topology string
	Provider string
	Nodes    int           // servers of the topology
	Data     int           // of them, those that hold data
	Peers    bool          // servers talk to each other
	FailOver time.Duration // somebody replaces masters, in this time; 0: nobody
	Stores   bool          // there are stores that can be told
	Keys     bool          // the backend says under which keys its locks are
	Voters   bool          // it says which nodes gave a grant
	Resource bool          // clients use the register
	NoClock  string        // why the servers' clocks cannot jump; empty: they can
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

// OfMaster is a Fault that strikes the master and nobody else.
type OfMaster interface{ StrikesMaster() }

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
	Params  catalog.Values // the fault's own
	Draw    uint64         // seed of what the fault chooses itself
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
// [Pauser], [Restarter], [Clocker], [Storer].
type Node interface {
	Name() string
	Role() string // that it claims now
	Data() bool   // whether it holds data: others are hurt only when they are named
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

// Storer is a node that holds data.
type Storer interface {
	// Followers is how many replicas follow it now.
	Followers(ctx context.Context) (int, error)
	// InSync reports whether as many replicas as said have all that it has.
	InSync(ctx context.Context, replicas int) (bool, string, error)
	// Has says which of the keys exist.
	Has(ctx context.Context, keys []string) ([]string, error)
	// Delete deletes keys, Flush everything: both say how many there were.
	Delete(ctx context.Context, keys []string) (int64, error)
	Flush(ctx context.Context) (int64, error)
	// Evict fills the memory until the keys were evicted; ErrTooLate says that they went by
	// themselves. MakeRoom must follow in any case.
	Evict(ctx context.Context, policy string, keys []string) (string, error)
	MakeRoom(ctx context.Context) error
}

// ErrTooLate says that what a fault was to strike was gone before: it may be tried again.
var ErrTooLate = errors.New("too late")

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
	Client   Client
	Point    string
	Lock     string
	Grant    string
	Deadline history.Opt
	Nodes    []string // that granted, where the backend says so
	Go       func()   // lets it go on; further calls do nothing
}

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
}

// AllNodes stands for the number of all nodes in [Arm].
const AllNodes = -1

// Arm asks for a client at a point.
type Arm struct {
	Point   string   // empty: any
	Nth     int      // from 1
	Clients []string // empty: any
	// GrantedBy: only under a grant that so many nodes gave, where the backend says who did;
	// 0 is any, AllNodes every one.
	GrantedBy int
	// Armed, when set, is called once the clients were told: what they are told after that,
	// they hear after it.
	Armed func()
}
