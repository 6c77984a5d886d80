// Package backends lets you put a lock of your own under test: write a [Spec]. It names a backend and opens a [Locker] for each
// client; a Locker returns a [Lease] for each granted attempt; an error says either that something certainly did not happen, or
// nothing (see [Outcome]).
//
// Requests, leases, points and error codes are plain data, so that a lock in another language behind a pipe can be a
// backend like any other. Backends know servers by name and dial by name; they never keep addresses.
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

// Spec describes a backend: its name, its promises, and how to open it.
type Spec struct {
	Name       string
	Doc        string
	Topologies []string // the first is the default
	// Brings is a topology of the backend's own, in no catalogue, and the only one that it runs on; nil: none.
	Brings *cluster.Topology
	// Model says which grants may be held together. Its zero value is an exclusive lock whose grants each have a lease
	// of their own, or none.
	Model history.Model
	// Ends is one of the history.Ends constants: how a grant ends without a release. With history.EndsLease every
	// grant's Info has Lease, Sent, TTL and Deadline.
	Ends     string
	Tokens   bool   // every grant's Info has a Token
	Voters   bool   // every grant's Info has the Nodes that gave it
	Register string // a [Register] to use where the run names none; empty: ours
	NoTry    bool   // it cannot try: every attempt waits
	// its client queues requests while it is cut off and sends them later: no request is known not to have been sent
	Buffers bool
	// Settles is true if the Locker is the [Resource] as well, and writes take effect with the release, in one
	// transaction or statement. Then the data is judged, and not who believed what.
	Settles bool
	// NoClock is true if the backend's own times are not to be used. Each lease then counts from its request, so that no
	// hold is taken for longer than it is; how late users learned of a loss is undetermined.
	NoClock bool
	// Fair is true if the lock promises to grant in the order of requests.
	Fair bool
	// Connected is true if every grant's Info names its Connection.
	Connected bool
	Renews    bool          // leases implement Renewer and extend themselves in the background
	Points    []Point       // places in its own protocol, in order; Reach takes their names
	Recovery  time.Duration // what it needs beyond its servers to serve again after a fault
	// RealServer says why an embedded server cannot replace a real one; empty: it can.
	RealServer string
	// Notes says what the lock does not promise, and why.
	Notes string
	// Keys returns the names under which the store keeps a lock, for faults that evict or delete them; nil where there
	// are none.
	Keys func(run, lock string) []string
	// Signals are the ways in which the API tells users that a lock is lost; none: it does not tell them.
	Signals []Signal
	Calls   []string // Call constants: its calls beside acquire and release
	// Library is the module under test, with its version; empty: the lock is ours. A library is run as its users have
	// it, by default under the discipline `told`.
	Library string
	Params  []Param // that may follow its name, as in redsync:tries=1
	// Arguments is true if the backend takes arguments behind --; see [Arguments].
	Arguments bool
	// OwnParams is true if With adds parameters that are only known once it was called.
	OwnParams bool
	// Beside is true if each client runs beside a program of the backend's own. That program reaches servers by
	// addresses that do not change, and everything it starts ends with the client, whatever process group it is in.
	Beside      bool
	Collects    bool              // its Locker is a [Collector]
	Versions    map[string]string // versions of its parts, for the record
	Description string            // its description of itself; clients get it as the value [ParamDescription]
	// With returns the spec for the values of its parameters, or an error for wrong ones; nil: parameters change nothing
	// in the spec.
	With func(s Spec, v Values) (Spec, error)
	Open func(ctx context.Context, env Env) (Locker, error)
}

// EntryName returns the name in the catalogue.
func (s Spec) EntryName() string { return s.Name }

// EntryDoc returns the line that `list` shows.
func (s Spec) EntryDoc() string { return s.Doc }

// ends are the ways in which a grant may end without a release.
var ends = []string{history.EndsNever, history.EndsLease, history.EndsProcess, history.EndsSession, history.EndsConnection}

// Valid returns what is wrong with the spec, in a sentence. The catalogue calls it when the spec is added.
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

// Defaults returns the default values of the parameters.
func (s Spec) Defaults() Values {
	v := Values{}
	for _, p := range s.Params {
		v[p.Name] = p.Default
	}
	return v
}

// Catalogue is a list of backends by name.
type Catalogue = catalog.Catalog[Spec]

// Point is a named place in a backend's own protocol; faults can be tied to it.
type Point = history.Point

// Env is what a client gives its backend. Each client has an Env of its own.
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
	// ClockBase is the CLOCK_MONOTONIC reading, in ns, at time 0 of the run's clock.
	ClockBase int64
	// Breach reports, in a sentence, that the path between client and lock is broken: nothing of the run counts.
	Breach func(text string)
	// Stalled reports that the client was held up for late until now, although its own process was not; nil: nobody needs it.
	Stalled func(late time.Duration)
	Log     io.Writer // output of a program beside the client; nil: standard error
	Values  Values    // of the spec's Params
}

// Request is one acquire attempt.
type Request struct {
	Lock  string
	Owner string // nonce, unique per attempt: the store's owner value; for a reentrant lock that is held, its owner
	Lease string // lease of this grant alone, where the owner is not unique; see LeaseName
	Mode  string // "" is exclusive, history.ModeShared is for readers
	TTL   time.Duration
	Reuse bool // use the lock object of the last request for this lock again, if there is one
	Hooks Hooks
}

// Reach reports that the client is at a point of the backend's own protocol. It blocks while a fault holds the client
// there, and does nothing where nobody listens.
func (r Request) Reach(ctx context.Context, point string) {
	if r.Hooks.Point != nil {
		r.Hooks.Point(ctx, point)
	}
}

type sourceKey struct{}

// WithSource returns a context for [Request.Reach] that names the line of code that reaches the point, as FILE:LINE.
func WithSource(ctx context.Context, line string) context.Context {
	return context.WithValue(ctx, sourceKey{}, line)
}

// Source returns the line of code that a context names, else "".
func Source(ctx context.Context) string {
	line, _ := ctx.Value(sourceKey{}).(string)
	return line
}

// Waiting is called whenever an attempt waits; the first time, its client reaches [history.AtWaiting].
func (r Request) Waiting(ctx context.Context) func() {
	return sync.OnceFunc(func() { r.Reach(ctx, history.AtWaiting) })
}

// LeaseName returns a name for the grant's own lease, unique per attempt.
func (r Request) LeaseName() string { return cmp.Or(r.Lease, r.Owner) }

// Hooks let a backend report to its client what happens inside. They are safe for use from any goroutine of the
// backend.
type Hooks struct {
	// Point reports a point of the backend's own protocol, or that it is about to wait. It blocks while a fault holds
	// the client there.
	Point func(ctx context.Context, name string)
	// Renewing is called before a renewal is sent; call done with the outcome: the new sent and deadline, or an error.
	// If Renewing itself fails, do not send the renewal: it could not be recorded.
	Renewing func(lease string) (done func(r Renewal, err error), err error)
	// GivingUp is called before a backend releases the lock unasked, as some libraries do after an error; call done with
	// the outcome. If GivingUp itself fails, send nothing. It reports the loss as well.
	GivingUp func(lease, reason string) (done func(err error), err error)
	// Lost reports that the lease is lost.
	Lost func(lease, reason string)
}

// Session lets a backend report on leases that several grants share, apart from any request. It is safe for use from
// any goroutine.
type Session struct {
	// Opened reports a new lease, before its first use.
	Opened func(lease string, r Renewal) error
	// Renewing and Lost are as in Hooks, for the shared lease.
	Renewing func(lease string) (done func(r Renewal, err error), err error)
	Lost     func(lease, reason string)
}

// Renewal is a successful extension of a lease.
type Renewal struct {
	Sent     int64
	TTL      time.Duration
	Deadline int64
	Nodes    []string // servers that answered, where the backend knows; also for a refused renewal
}

// Locker is one client's access to the lock service. Its calls are not concurrent.
type Locker interface {
	// Acquire waits for the lock. It returns ErrBusy if ctx ends between two tries, else the error of the first try of
	// unknown outcome.
	Acquire(ctx context.Context, req Request) (Lease, error)
	// TryAcquire makes one try. It returns ErrBusy if somebody else holds the lock.
	TryAcquire(ctx context.Context, req Request) (Lease, error)
	// Close closes the client's connections. It does not release leases that are still held.
	Close() error
}

// Lease is a granted attempt.
type Lease interface {
	// Info returns what was granted; it does not change.
	Info() Info
	// Release returns nil if the store removed the lock, ErrNotHeld if the store says that the caller does not hold it, and
	// any other error if the outcome is unknown. ctx has no deadline: use Env.Timeout, as a user would.
	Release(ctx context.Context) error
}

// Granted is a Lease that the function Give releases.
type Granted struct {
	Of   Info
	Give func(ctx context.Context) error
}

// Info returns what was granted.
func (g *Granted) Info() Info { return g.Of }

// Release calls Give.
func (g *Granted) Release(ctx context.Context) error { return g.Give(ctx) }

// Renewer is a Lease that renews itself. StopRenewing returns once no renewal is under way; it is called before the
// release is invoked.
type Renewer interface {
	StopRenewing()
}

// Info describes a grant. Times are in ns on the run's clock.
type Info struct {
	Owner    string // the owner that the store sees; empty: the request's
	Lease    string // empty: the grant has no lease
	Sent     int64  // just before the granted request was sent
	TTL      time.Duration
	Deadline int64 // Sent + TTL - drift allowance; meaningless without a lease
	Token    int64
	HasToken bool
	Nodes    []string // the servers that granted, where that is a subset
	// Connection is the server's name for the connection that holds the grant; empty: there is none, or that name cannot
	// be used to end it.
	Connection string
	Guard      string // key of the grant in its store, which a [Register] there checks; empty: none
}
