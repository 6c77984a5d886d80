// Package nemesis is the engine that hurts clients and servers on purpose; what hurts are the faults, one file
// each, in package faults below it or in a module of somebody else. A [Plan] is data, made from one seed by a
// pure function; a [Runner] carries it out against a [World]; each [Fault] injects, proves that it took effect,
// and returns its own heal. To add a fault of your own, write a [Spec] with a [Fault] and put it into the
// catalogue.
//
//	seed + specs -> NewPlan -> Plan (saved) -> Runner.Run -> fault events -> history
//	                                              |
//	                               World: clients, nodes, points, links
//
// Real processes replay the plan, not the interleaving.
package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Spec describes a fault. Each field says one thing; none is derived from another one.
type Spec struct {
	Name   string
	Also   []string // other names by which it may be asked for
	Doc    string
	Notes  string // what else to know of it, in a sentence or two; empty: nothing
	Proven string // what is observed that shows its effect, in a sentence or two
	End    string // what happens when it ends, in a sentence or two
	Family string // history.Family constants; empty: hurts nobody
	Whom   Whom
	Links  Links // of clients, that it may touch
	// Delays: what its clients ask of the resource comes late, although they are on time.
	Delays bool
	// Gates: its effect is that the client stays at its point. It is always tied to one, and
	// the client goes on when it is healed.
	Gates bool
	// Keeps says by the fault's own parameters whether the fault itself keeps the client of a tied step at its point, and lets
	// it go when it is injected, however long that takes; nil: it does not.
	Keeps func(own Values) bool
	// OfMaster: it strikes the master and nobody else.
	OfMaster bool
	Params   []Param // see ClientParams and ServerParams for those that most have
	// Check says what is wrong with its own parameters; nil: any values are right.
	Check func(own Values, in Input) error
	// Lasts says by the fault's own parameters whether it lasts for its `for` and is healed then; nil: it does, if it has a `for`.
	Lasts func(own Values) bool
	// OfGrant: it strikes what the client at its point was granted, and nothing else.
	OfGrant bool
	// Behind: a client that it strikes while it waits has a holder before it for a while, if the lock renews its leases: `stay` says
	// for how long.
	Behind bool
	// Takes is how long an injection may take beyond its `for`, with leases of the ttl: the
	// plan leaves room for it. Nil: no time that matters.
	Takes func(ttl time.Duration) time.Duration
	// SetsBack is by how much an injection makes stores keep longer what they have, as a clock
	// that goes back does; nil: not at all.
	SetsBack func(own Values, ttl time.Duration) time.Duration
	// Strikes chooses where the k-th step strikes when the user does not say: a point, or
	// history.AtRandom. Nil: a fresh grant and a random time in turn.
	Strikes func(k int, own []string) string
	// Draw makes the steps of a request that draws from all faults; nil: the request is for
	// this one.
	Draw  func(c *Catalogue, v Values, in Input, rnd *rand.Rand) (Drawn, error)
	Fault Fault // nil: it injects nothing itself
}

// EntryName is the name in the catalogue.
func (s Spec) EntryName() string { return s.Name }

// EntryDoc is the line that `list` shows.
func (s Spec) EntryDoc() string { return s.Doc }

// EntryAliases are other names by which it may be chosen.
func (s Spec) EntryAliases() []string { return s.Also }

// families are those that a fault can be of.
var families = []string{
	history.FamilyClient, history.FamilyServer, history.FamilyLink, history.FamilyClock, history.FamilyStore, history.FamilyMixed,
}

// Valid says in a sentence what is wrong with the spec: it is asked when the spec is added
// to a catalogue.
func (s Spec) Valid() error {
	switch {
	case s.Fault == nil && s.Draw == nil:
		if s.Family != "" || s.Proven != "" || s.End != "" || s.Whom != 0 || s.Links != 0 || len(s.Params) > 0 {
			return errors.New("the fields `Fault` and `Draw` are empty, so there is no fault to inject: set one of these fields")
		}
		return nil
	case !slices.Contains(families, s.Family):
		return fmt.Errorf("the field `Family` is %q: set it to one of %v (constants of package history)", s.Family, families)
	case s.Proven == "":
		return errors.New("the field `Proven` is empty: describe what shows that the fault took effect")
	case s.End == "":
		return errors.New("the field `End` is empty: describe what happens when the fault ends")
	case s.Fault != nil && !slices.Contains([]Whom{Clients, Nodes, ClientsAndNodes, OwnTargets}, s.Whom):
		return errors.New("the field `Whom` must be Clients, Nodes, ClientsAndNodes or OwnTargets")
	case s.Links&^(ToServers|ToRegister) != 0:
		return errors.New("the field `Links` must be ToServers, ToRegister, both (ToServers|ToRegister), or 0")
	case s.Fault != nil && s.Family == history.FamilyMixed:
		return errors.New("the field `Family` is \"mixed\", but the field `Draw` is not set: set `Draw` (the function that draws " +
			"faults at random), or choose another family")
	}
	return errors.Join(s.validTogether(), s.validStrikes(), s.validParams())
}

// validTogether says what does not go with whom the fault hurts.
func (s Spec) validTogether() error {
	switch {
	case s.Gates && s.Whom != Clients:
		return errors.New("the field `Gates` is true, so the fault stops a client at a point: set the field `Whom` to Clients")
	case s.Fault != nil && s.Family == history.FamilyClient && s.Whom&Clients == 0:
		return errors.New("the field `Family` is \"client\", but the field `Whom` does not contain Clients, so lockstorm would never " +
			"count a client as hit by the fault: set `Whom` to Clients or ClientsAndNodes")
	case s.Delays && s.Links == 0:
		return errors.New("the field `Delays` is true, but the field `Links` is 0: set `Links` to the links whose requests are delayed")
	case s.OfMaster && s.Whom&Nodes == 0:
		return errors.New("the field `OfMaster` is true, so the fault acts on a server: set the field `Whom` to Nodes or " +
			"ClientsAndNodes")
	}
	return nil
}

// validStrikes asks for a few points as for a backend that has none of its own.
func (s Spec) validStrikes() (err error) {
	if s.Strikes == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the function in the field `Strikes` must return a point or history.AtRandom for every backend, but it "+
				"fails for a backend without points of its own: %v", p)
		}
	}()
	for k := range 10 {
		s.Strikes(k, nil)
	}
	return nil
}

// validParams reads the defaults as if they had been given.
func (s Spec) validParams() error {
	if err := catalog.CheckParams(s.Params); err != nil {
		return err
	}
	v, err := catalog.Parse("nemesis "+s.Name, "", s.Params)
	if err != nil {
		return err
	}
	for _, name := range []string{paramFor, paramEvery, paramStay} {
		d, err := v.Length(name, time.Second)
		if err != nil {
			return err
		}
		if name == paramEvery && v[name] != "" && d <= 0 {
			return errNoPeriod
		}
	}
	_, err = v.Count(paramNth, 1)
	return err
}

var (
	errNoPeriod = errors.New("every= must be greater than 0")
	errNoLength = errors.New("for= must be greater than 0: a fault needs a duration. Leave out for= to use the default")
)

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
	OwnTargets                       // neither: the fault finds what it strikes itself, a file for instance
	ClientsAndNodes = Clients | Nodes
)

// Links are the links of clients that a fault may touch; those that no fault of the plan
// touches lead past the proxy.
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
	RealOnly bool          // the servers are real ones, none that stand in for them
	Nodes    int           // servers of the topology
	Data     int           // of them, those that hold data
	Peers    bool          // servers talk to each other
	FailOver time.Duration // somebody replaces masters, in this time; 0: nobody
	Moves    bool          // the leader can be told to hand over
	Elects   int           // of them, those that elect a leader among themselves
	Follows  bool          // masters say who follows them, and do not wait for them
	Sessions bool          // sessions of clients can be ended by the servers
	// Connections: those that grants are on can be ended by the servers.
	Connections bool
	Promotes    bool     // replicas can be promoted by us
	Stores      bool     // there are stores that can be told to forget
	Answers     bool     // it is known which answers of the servers say that nothing was done
	Policies    []string // by which the servers drop keys when memory runs short, the default first
	Keys        bool     // the backend says under which keys its locks are
	Voters      bool     // it says which nodes gave a grant
	Renews      bool     // its leases extend themselves: a holder may stay for as long as it likes
	Collects    bool     // its clients are [Collector]s
	Resource    bool     // clients use the register
	NoClock     string   // why the servers' clocks cannot jump; empty: they can
	NoLoss      string   // why packets cannot be lost; empty: they can
	Theirs      string   // why the servers must not be hurt; empty: they are ours
}

// lasts reports whether the fault is active for a time, and then healed.
func (s Spec) lasts(v Values) bool {
	return v[paramFor] != "" && (s.Lasts == nil || s.Lasts(ownParams(v)))
}

// keeps reports whether a step of the fault lets its client go itself.
func (s Spec) keeps(own Values) bool { return s.Gates || (s.Keeps != nil && s.Keeps(own)) }

// Fault is one way to hurt.
type Fault interface {
	// Available is nil when the fault can work in this setting; else it says why not.
	Available(s Setting) error
	// Inject hurts the targets and returns when the effect is proven.
	Inject(ctx context.Context, w World, t Target) (Effect, error)
}

// Effect is an injected fault.
type Effect struct {
	Proof string // what was observed; it is not empty
	// Began is when it struck, on the run's clock, taken just before: the beginning of what it may
	// have caused. 0: at once, when it was asked for. A fault that waits or prepares first says so.
	Began int64
	// Heal undoes the fault and says how that was seen; nil where there is nothing to undo.
	Heal func(ctx context.Context) (string, error)
}

// Target is whom a fault hurts, resolved at the moment of injection.
type Target struct {
	Clients []Client
	Nodes   []Node
	Hit     *Hit // the client that stands at a point, for tied faults
	For     time.Duration
	Params  Values // the fault's own
	Draw    uint64 // seed of what the fault chooses itself
}
