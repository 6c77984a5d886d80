// Package backends holds the contracts between a lock implementation and the lab: a [Spec] names a backend and
// opens a [Locker] for each client; a Locker hands out a [Lease] for each granted attempt; errors say for
// certain what did not happen, and nothing about the rest (see [Outcome]). To test a lock of your own, write a
// [Spec] whose Open gives each client a [Locker].
//
// The contract is made of plain data (requests, leases, points, error codes), so that a
// lock in another language behind a pipe can be a backend like any other. Backends know
// servers by name and dial by name; they never keep addresses.
package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Spec describes a backend: what it is, what it promises, how it is opened.
type Spec struct {
	Name       string
	Doc        string
	Topologies []string // the first is the default
	// Brings is a topology of its own, the only one that it runs on, in no catalogue; nil: none.
	Brings *cluster.Topology
	// Model is what may be held together and what a grant is: the zero value is an exclusive
	// lock whose every grant has a lease of its own, or none.
	Model history.Model
	// Ends is how a grant ends without a release: one of the history.Ends constants. With
	// history.EndsLease every grant's Info has Lease, Sent, TTL and Deadline.
	Ends     string
	Tokens   bool   // every grant's Info has a Token
	Voters   bool   // every grant's Info has the Nodes that gave it
	Register string // a [Register] that it is run with where none is asked for; empty: ours
	NoTry    bool   // it has no way to try: every attempt waits
	// its client keeps what is asked for while it is cut off and sends it later: nothing is known not to have been sent
	Buffers bool
	// Settles: its Locker is the [Resource] as well, and what is written takes effect with the
	// release, in one transaction or statement. Then the data is judged, and not who believed what.
	Settles bool
	// NoClock: what it says of times is not used. Each lease then counts from its request, so that no hold is longer than it
	// is; how late its users were told of a loss is undetermined.
	NoClock bool
	// Fair: it promises to be granted in the order of requests.
	Fair bool
	// Connected: every grant's Info has the Connection that it is on.
	Connected bool
	Renews    bool          // leases are a Renewer and extend themselves in the background
	Points    []Point       // places in its own protocol, in order; each name given to Reach
	Recovery  time.Duration // what it needs beyond its servers to serve again after a fault
	// RealServer says why an embedded server cannot stand in for a real one; empty: it can.
	RealServer string
	// Notes say what to know before one relies on it: what it does not promise, and why.
	Notes string
	// Keys are the names under which the store keeps a lock, for faults that evict or delete
	// them; nil where there are none.
	Keys func(run, lock string) []string
	// Signals are how its users learn that a lock is lost, as its API has it; none: they are
	// not told. See [Signal].
	Signals []Signal
	Calls   []string // that it has beside acquire and release: Call constants
	// Library is the module that it is, with its version; empty: it is ours. A library is run
	// as its users have it, by default under the discipline `told`.
	Library string
	Params  []Param // that may follow its name, as in redsync:tries=1
	// Arguments: it takes arguments behind --; see [Arguments].
	Arguments bool
	// OwnParams: With adds parameters, which nobody knows before.
	OwnParams bool
	// Beside: a program of its own runs beside each client. It reaches servers by addresses that do not change, and
	// what it starts is ended with the client, whatever group it is in.
	Beside      bool
	Collects    bool              // its Locker is a [Collector]
	Versions    map[string]string // of what it is made of, for the record
	Description string            // by itself, where it is asked what it is: clients are told it as the value [ParamDescription]
	// With is the spec as its parameters make it, and refuses values that are wrong; nil: they
	// alter nothing that the spec says.
	With func(s Spec, v Values) (Spec, error)
	Open func(ctx context.Context, env Env) (Locker, error)
}

// EntryName is the name in the catalogue.
func (s Spec) EntryName() string { return s.Name }

// EntryDoc is the line that `list` shows.
func (s Spec) EntryDoc() string { return s.Doc }

// ends are the ways in which a grant may end without a release.
var ends = []string{history.EndsNever, history.EndsLease, history.EndsProcess, history.EndsSession, history.EndsConnection}

// Valid says in a sentence what is wrong with the spec: it is asked when the spec is added
// to a catalogue.
func (s Spec) Valid() error {
	switch {
	case s.Open == nil:
		return errors.New("the field `Open` is missing: it must be a function that returns a Locker")
	case len(s.Topologies) == 0:
		return errors.New("the field `Topologies` is empty: name at least one topology (set of servers) on which the lock can run, " +
			"or \"local\" for a lock without servers")
	case !slices.Contains(ends, s.Ends):
		return fmt.Errorf("the field `Ends` (what ends a grant that is not released) is %q: choose one of %v (constants of package "+
			"history)", s.Ends, ends)
	case !s.Model.Known():
		return fmt.Errorf("the field `Model.Kind` has the unknown value %q: choose a constant of package history, such as "+
			"history.ModelExclusive", s.Model.Kind)
	}
	return cmp.Or(history.CheckPoints(s.Points), s.validParams())
}

// validParams reads the defaults as if they had been given.
func (s Spec) validParams() error {
	if err := catalog.CheckParams(s.Params); err != nil || s.With == nil {
		return err
	}
	_, err := s.With(s, s.Defaults())
	return err
}

// Defaults are the values of the parameters where none is given.
func (s Spec) Defaults() Values {
	v := Values{}
	for _, p := range s.Params {
		v[p.Name] = p.Default
	}
	return v
}

// Catalogue is a list of backends by name.
type Catalogue = catalog.Catalog[Spec]

// Point is a named place in a backend's own protocol where a fault can be tied to.
type Point = history.Point

// Env is what a client gives its backend. One Env serves one client.
type Env struct {
	Run     string                                                   // unique to the run, for names in shared stores
	Client  string                                                   // name of the client
	Nodes   []cluster.Ref                                            // the servers, by name
	Dial    func(ctx context.Context, node string) (net.Conn, error) // by name or announced address, on every connect
	Dir     string                                                   // folder shared by all clients, for file locks
	TTL     time.Duration                                            // time to live of leases
	Retry   time.Duration                                            // longest pause between tries of a waiting acquire
	Timeout time.Duration                                            // longest wait for one answer
	Now     func() int64                                             // the run's clock, ns
	Rand    *rand.Rand                                               // seeded; not for concurrent use
	Session Session                                                  // for leases that several grants share
	Addr    func(node string) string                                 // host:port at which this client reaches a server now
	// ClockBase is CLOCK_MONOTONIC, in ns, at time 0 of the run's clock.
	ClockBase int64
	// Breach says that what stands between client and lock is broken, in a sentence: nothing of the run counts.
	Breach func(text string)
	// Stalled says that the client was held up for so long until now, although its own process was not; nil: nobody asks.
	Stalled func(late time.Duration)
	Log     io.Writer // for what a program beside the client prints; nil: the standard error
	Values  Values    // of the spec's Params
}

// Request is one acquire attempt.
type Request struct {
	Lock  string
	Owner string // nonce, unique per attempt, to be used as the store's owner value; of a reentrant lock that is held: its owner
	Lease string // name for a lease of the grant's own where the owner is not unique; see LeaseName
	Mode  string // "" is exclusive, history.ModeShared that of readers
	TTL   time.Duration
	Reuse bool // use the lock object of the last request for this lock again, where it has one
	Hooks Hooks
}

// Reach says that the client stands at a point of the backend's own protocol. It blocks
// while a fault holds it there, and does nothing where nobody listens.
func (r Request) Reach(ctx context.Context, point string) {
	if r.Hooks.Point != nil {
		r.Hooks.Point(ctx, point)
	}
}

// Waiting is called whenever an attempt waits: the first time, its client reaches [history.AtWaiting].
func (r Request) Waiting(ctx context.Context) func() {
	return sync.OnceFunc(func() { r.Reach(ctx, history.AtWaiting) })
}

// LeaseName is the name of a lease of the grant's own: unique per attempt.
func (r Request) LeaseName() string { return cmp.Or(r.Lease, r.Owner) }

// Hooks are how a backend tells its client what happens inside: all may be called from
// any goroutine of the backend.
type Hooks struct {
	// Point is reached in the backend's own protocol or before it waits. It blocks while
	// a fault holds the client there.
	Point func(ctx context.Context, name string)
	// Renewing is called before a renewal leaves; the function it returns takes the
	// outcome: the new sent and deadline, or an error. If Renewing itself fails, do not send the
	// renewal: it could not be recorded.
	Renewing func(lease string) (done func(r Renewal, err error), err error)
	// GivingUp is called before a backend gives the lock back by itself, unasked: some
	// libraries do after an error. The function it returns takes the outcome. If GivingUp itself
	// fails, send nothing. It tells of the loss, too.
	GivingUp func(lease, reason string) (done func(err error), err error)
	// Lost tells that the lease is lost.
	Lost func(lease, reason string)
}

// Session is how a backend tells its client of leases that several grants share: in
// what the client's requests have no part. All may be called from any goroutine.
type Session struct {
	// Opened tells that a lease was created, before its first use.
	Opened func(lease string, r Renewal) error
	// Renewing and Lost are as those of Hooks, for the lease itself.
	Renewing func(lease string) (done func(r Renewal, err error), err error)
	Lost     func(lease, reason string)
}

// Renewal is a successful extension of a lease.
type Renewal struct {
	Sent     int64
	TTL      time.Duration
	Deadline int64
	Nodes    []string // that answered, where the backend knows; also of one that was refused
}

// Locker is one client's access to the lock service. Its calls are not concurrent.
type Locker interface {
	// Acquire waits for the lock. When ctx ends between two tries it returns ErrBusy; it
	// ends with the error of its first try of unknown outcome.
	Acquire(ctx context.Context, req Request) (Lease, error)
	// TryAcquire makes one try: ErrBusy when somebody else holds the lock.
	TryAcquire(ctx context.Context, req Request) (Lease, error)
	// Close ends the client's connections. Leases that are still held are not released.
	Close() error
}

// Lease is a granted attempt.
type Lease interface {
	// Info is what was granted; it does not change.
	Info() Info
	// Release gives the lock back: nil when the store removed it, ErrNotHeld when the store
	// says that the caller does not hold it, anything else is of unknown outcome. ctx has
	// no deadline: the backend's own time-out (Env.Timeout) is what a user would have.
	Release(ctx context.Context) error
}

// Granted is a lease that a function gives back.
type Granted struct {
	Of   Info
	Give func(ctx context.Context) error
}

// Info is what was granted.
func (g *Granted) Info() Info { return g.Of }

// Release gives the lock back.
func (g *Granted) Release(ctx context.Context) error { return g.Give(ctx) }

// Renewer is a Lease that renews itself. StopRenewing returns once no renewal is under
// way; it is called before the release is invoked.
type Renewer interface {
	StopRenewing()
}

// Info describes a grant. Times are of the run's clock in ns.
type Info struct {
	Owner    string // what the store sees as the owner; empty: the request's
	Lease    string // empty: the grant has no lease
	Sent     int64  // just before the request that was granted left
	TTL      time.Duration
	Deadline int64 // Sent + TTL - drift allowance; meaningless without a lease
	Token    int64
	HasToken bool
	Nodes    []string // the servers that granted, where that is a subset
	// Connection is the name that the server has for the connection that holds the grant; empty: none,
	// or nobody could end it by that.
	Connection string
	Guard      string // the key of the grant in its store, which a [Register] there looks for; empty: none
}
