// Package nemesis lets you add a fault of your own: write a [Spec] with a [Fault], and put it into the catalogue. The faults are
// in package faults below it, one file each, or in a module of somebody else. A [Plan] is data, made from one seed by a pure
// function; a [Runner] carries it out against a [World]; each [Fault] injects, proves that it took effect, and returns its own
// heal.
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

// Spec describes a fault. Its fields are independent of each other.
type Spec struct {
	Name   string
	Also   []string // other names by which it may be asked for
	Doc    string
	Notes  string // what else to know about it, in a sentence or two; empty: nothing
	Proven string // the observation that shows its effect, in a sentence or two
	End    string // what happens when it ends, in a sentence or two
	Family string // a history.Family constant; empty: hurts no party
	Whom   Whom
	Links  Links // links of clients that it may touch
	// Delays is true if requests of its clients to the resource come late, although the clients are on time.
	Delays bool
	// Stops is true if it stops whole clients, unless it keeps them at their point: they record nothing until it ends.
	Stops bool
	// Gates is true if its effect is that the client stays at its point. It is always tied to one, and the client goes
	// on when it is healed.
	Gates bool
	// Keeps reports, by the fault's own parameters, whether the fault itself keeps the client of a tied step at its
	// point, and lets it go when it is injected, however long that takes; nil: it does not.
	Keeps func(own Values) bool
	// Disks is true if it takes away what servers have on disk: in its runs these are on disks of ours.
	Disks bool
	// OfMaster is true if it strikes only the master.
	OfMaster bool
	Params   []Param // see ClientParams and ServerParams for the usual ones
	// Check returns what is wrong with its own parameters; nil: any values are right.
	Check func(own Values, in Input) error
	// Lasts reports, by its parameters, whether the fault lasts for its `for` and is healed then; nil: it does, if it has a `for`.
	Lasts func(own Values) bool
	// OfGrant is true if it strikes only what the client at its point was granted.
	OfGrant bool
	// Behind is true if a client that it strikes while it waits waits behind a holder for a while, if the lock renews
	// its leases: `stay` says for how long.
	Behind bool
	// Takes returns how long an injection may take beyond its `for`, with leases of the ttl: the plan leaves room for
	// it. nil: a negligible time.
	Takes func(ttl time.Duration) time.Duration
	// SetsBack returns by how much an injection makes stores keep their data longer, as a clock that goes back does;
	// nil: not at all.
	SetsBack func(own Values, ttl time.Duration) time.Duration
	// Strikes chooses where the k-th step strikes if the user does not say: a point, or history.AtRandom. nil: a fresh
	// grant and a random time in turn.
	Strikes func(k int, own []string) string
	// Draw makes the steps of a request that draws from all faults; nil: the request is for this one.
	Draw  func(c *Catalogue, v Values, in Input, rnd *rand.Rand) (Drawn, error)
	Fault Fault // nil: it injects nothing itself
}

// EntryName returns the name in the catalogue.
func (s Spec) EntryName() string { return s.Name }

// EntryDoc returns the line that `list` shows.
func (s Spec) EntryDoc() string { return s.Doc }

// EntryAliases returns other names by which it may be chosen.
func (s Spec) EntryAliases() []string { return s.Also }

// families are those that a fault can be of.
var families = []string{
	history.FamilyClient, history.FamilyServer, history.FamilyLink, history.FamilyClock, history.FamilyStore, history.FamilyMixed,
}

// Valid returns what is wrong with the spec, in a sentence. The catalogue calls it when the spec is added.
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
		return errors.New("the field `Family` is \"mixed\", but the field `Draw` is not set: set `Draw`, or choose another family")
	}
	return errors.Join(s.validTogether(), s.validStrikes(), s.validParams())
}

// validTogether says what does not go with whom the fault hurts.
func (s Spec) validTogether() error {
	switch {
	case s.Gates && s.Whom != Clients:
		return errors.New("the field `Gates` is true, so the fault stops a client at a point: set the field `Whom` to Clients")
	case s.Fault != nil && s.Family == history.FamilyClient && s.Whom&Clients == 0:
		return errors.New("the field `Family` is \"client\", but the field `Whom` lacks Clients, so no client would count as " +
			"hit: set `Whom` to Clients or ClientsAndNodes")
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

// Whom is the kind of a fault's targets.
type Whom int

// Kinds of targets.
const (
	Clients         Whom = 1 << iota // chosen by `clients`
	Nodes                            // chosen by `nodes`
	OwnTargets                       // neither: the fault finds its own targets, a file for instance
	ClientsAndNodes = Clients | Nodes
)

// Links are the links of clients that a fault may touch; links that no fault of the plan touches bypass the proxy.
type Links int

// Links of a client.
const (
	ToServers  Links = 1 << iota // to every server
	ToRegister                   // to the protected resource
)

// Setting is what is known before a run starts. Faults decide by it whether they can work.
type Setting struct {
	Backend  string
	Topology string
	Provider string
	RealOnly bool          // the servers are real ones, no embedded ones
	Nodes    int           // servers of the topology
	Data     int           // servers that hold data
	Peers    bool          // servers talk to each other
	FailOver time.Duration // the topology replaces masters, in this time; 0: it does not
	Moves    bool          // the leader can be told to hand over
	Elects   int           // servers that elect a leader among themselves
	Follows  bool          // masters report their followers, and do not wait for them
	Sessions bool          // the servers can end sessions of clients
	// Connections is true if the servers can end the connections of grants.
	Connections bool
	Promotes    bool     // we can promote replicas
	Stores      bool     // there are stores that can be told to forget
	Answers     bool     // answers of the servers that say that nothing was done can be recognized
	Policies    []string // ways in which the servers drop keys when memory runs short, the default first
	Keys        bool     // the backend reports the keys of its locks
	Voters      bool     // the backend reports the nodes that gave a grant
	Renews      bool     // leases extend themselves: a holder may stay for as long as it likes
	Collects    bool     // clients implement [Collector]
	Resource    bool     // clients use the register
	NoClock     string   // why the servers' clocks cannot jump; empty: they can
	NoLoss      string   // why packets cannot be lost; empty: they can
	NoDisks     string   // why the servers' disks cannot lose their power; empty: they can
	Theirs      string   // why the servers must not be hurt; empty: they are ours
}

// lasts reports whether the fault is active for a time, and then healed.
func (s Spec) lasts(v Values) bool {
	return v[paramFor] != "" && (s.Lasts == nil || s.Lasts(ownParams(v)))
}

// keeps reports whether a step of the fault lets its client go itself.
func (s Spec) keeps(own Values) bool { return s.Gates || (s.Keeps != nil && s.Keeps(own)) }

// Fault injects one kind of fault.
type Fault interface {
	// Available returns nil if the fault can work in this setting; the error says why not.
	Available(s Setting) error
	// Inject hurts the targets and returns once the effect is proven.
	Inject(ctx context.Context, w World, t Target) (Effect, error)
}

// Effect is an injected fault.
type Effect struct {
	Proof string // the observation; not empty
	// Began is when it struck, on the run's clock, taken just before: no consequence is earlier. 0: at once, when it was
	// asked for. Set it if the fault waits or prepares first.
	Began int64
	// Vain is true if it struck and found nothing to take away: it hit nobody.
	Vain bool
	// Heal undoes the fault and returns the observation that shows it; nil if there is nothing to undo.
	Heal func(ctx context.Context) (string, error)
}

// Target is the targets of a fault, resolved at the moment of injection.
type Target struct {
	Clients []Client
	Nodes   []Node
	Hit     *Hit // the client at the point, for tied faults
	For     time.Duration
	Params  Values // the fault's own
	Draw    uint64 // seed of the fault's own choices
}
