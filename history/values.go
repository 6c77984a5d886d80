package history

import (
	"slices"
	"strings"
	"time"
)

// Schema is the version of the record that this package writes.
const Schema = 1

// Values of Run.Ends: how a grant may end without a release.
const (
	EndsNever      = "never"      // a dead holder keeps the lock
	EndsLease      = "lease"      // freed by the store from sent + ttl on
	EndsProcess    = "process"    // freed when the holder's process dies
	EndsSession    = "session"    // freed when the holder's session ends; the session has a lease
	EndsConnection = "connection" // freed when the holder's connection ends, whoever ends it
)

// Disciplines: what a client does when its deadline passes or it is told of the loss.
const (
	Obey     = "obey"     // it stops touching the resource
	Trusting = "trusting" // it goes on
	Told     = "told"     // it goes by the signals of the library alone
)

// Wire is the value of an acquire's return where the requests of clients are counted: what its client wrote to all
// servers since the invocation, and the pieces that it read.
type Wire struct {
	Requests int64 `json:"requests"`
	Answers  int64 `json:"answers"`
}

// Asked is the value of f:asked: the library's answer. No answer counts as a no.
type Asked struct {
	Held bool `json:"held"`
}

// AskedSignal is the kind of signal that is a method for the user to call (Run.Signals): it answers by the deadlines
// on record. Signals of all other kinds are sent, as f:lost.
const AskedSignal = "method"

// Unasked is the value of a release that a library made although its client did not ask for it; the client goes on
// until it is told.
type Unasked struct {
	Unasked bool `json:"unasked"`
}

// FailOnDefect (Run.FailOn) has findings inherent to leases reported without failing the run.
const FailOnDefect = "defect"

// Values of Run.Fencing: the registers that a run uses.
const (
	FencingBoth = "both" // plain and fenced side by side
	FencingOn   = "on"   // fenced only
	FencingOff  = "off"  // plain only
)

// Parties other than clients.
const (
	PartyController = "controller"
	PartyNemesis    = "nemesis"
	PartyRegister   = "register"
)

// ModeShared is the mode of readers; every other grant is exclusive.
const ModeShared = "shared"

// ClientOf returns the client whose log a party's is; empty for the other parties.
func ClientOf(party string) string {
	switch party {
	case PartyController, PartyNemesis, PartyRegister:
		return ""
	}
	return party
}

// Run is the value of f:run: everything that judging needs, so that a history can be judged alone, next year, on
// another machine.
type Run struct {
	Schema        int      `json:"schema"`
	Backend       string   `json:"backend"`
	Topology      string   `json:"topology"`
	Provider      string   `json:"provider"`
	Nodes         []string `json:"nodes,omitempty"` // the servers of the topology
	Nemesis       []string `json:"nemesis"`
	Workload      string   `json:"workload"`
	Fencing       string   `json:"fencing"`
	Discipline    string   `json:"discipline"`
	Seed          uint64   `json:"seed"`
	Clients       int      `json:"clients"`
	Locks         []string `json:"locks"`
	TTL           int64    `json:"ttl_ns"`
	Duration      int64    `json:"duration_ns"`       // how long the workload is to run
	Tolerance     int64    `json:"tolerance_ns"`      // one number for all checks
	StallLimit    int64    `json:"stall_limit_ns"`    // a ticker that is later than this is recorded
	LivenessBound int64    `json:"liveness_bound_ns"` // from the last heal to each client's next grant
	Recovery      int64    `json:"recovery_ns"`       // how long the servers need after a fault, stated
	Model         Model    `json:"model,omitzero"`    // what the lock is
	Ends          string   `json:"ends"`              // how a grant ends without a release
	// the times of its leases are hidden: findings that depend on them are undetermined
	NoDeadlines bool `json:"no_deadlines,omitempty"`
	// its own times are not used: each lease counts from its request, and is longer than believed
	NoClock  bool     `json:"no_clock,omitempty"`
	Signals  []string `json:"signals,omitempty"` // the kinds of signals by which its users learn of a loss
	Renews   bool     `json:"renews,omitempty"`  // whether the lock renews its leases in the background
	Tokens   bool     `json:"tokens"`            // whether the lock issues fencing tokens
	Resource bool     `json:"resource"`          // whether the workload touches registers
	// the data is written in the lock's own transaction, or under its own condition: that decides, not beliefs
	OwnFence bool `json:"own_fence,omitempty"`
	// checks that gate, or with a + that gate beside the default; empty: the default
	Required        []string          `json:"required,omitempty"`
	FailOn          string            `json:"fail_on,omitempty"` // what fails the run; empty: every violation
	Registers       map[string]int64  `json:"registers,omitempty"`
	Bounds          map[string]int64  `json:"bounds_ns,omitempty"` // times that the workload promises, by its own names
	Fair            bool              `json:"fair,omitempty"`      // the lock promises to be granted in the order of requests
	ClientFaults    bool              `json:"client_faults"`       // whether the plan hurts clients
	Started         time.Time         `json:"started"`
	Versions        map[string]string `json:"versions,omitempty"`
	Command         string            `json:"command,omitempty"`
	RequestedFaults []RequestedFault  `json:"requested_faults,omitempty"`
}

// ByDeadline reports whether the clients of the run stop believing once the deadline of their lease has passed: they
// watch it themselves, or their library has a method that does.
func (r Run) ByDeadline() bool {
	return r.Discipline == Obey || (r.Discipline == Told && slices.Contains(r.Signals, AskedSignal))
}

// Requirement returns the check that an entry of Run.Required names.
func Requirement(entry string) string { return strings.TrimPrefix(entry, "+") }

// RequestedFault is one --nemesis of the run. Family says whom it can harm, Skipped why it was not tried.
type RequestedFault struct {
	Spec    string `json:"spec"`
	Family  string `json:"family"`
	Skipped string `json:"skipped,omitempty"`
	// Without are the faults that a request which draws from all leaves out, and why.
	Without map[string]string `json:"without,omitempty"`
}

// End is the value of f:end: the number of events in the log, itself included, and, on the controller's, in every
// other log. Sum is chained over all lines of the log before it, Sums over those of every other log.
type End struct {
	Events  int64             `json:"events"`
	Parties map[string]int64  `json:"parties,omitempty"`
	Sum     *uint32           `json:"sum,omitempty"`
	Sums    map[string]uint32 `json:"sums,omitempty"`
}

// Families of faults, by target.
const (
	FamilyClient = "client"
	FamilyServer = "server"
	FamilyLink   = "link"  // links between parties
	FamilyClock  = "clock" // of servers
	FamilyStore  = "store" // the data of a server
	FamilyMixed  = "mixed" // for a request that draws from several
)

// Fault is the value of f:fault and f:heal.
type Fault struct {
	ID      int               `json:"id"`      // the same on all events of one injection
	Fault   string            `json:"fault"`   // name in the catalogue
	Request int               `json:"request"` // which --nemesis asked for it, from 0
	Family  string            `json:"family"`
	Clients []string          `json:"clients,omitempty"`  // targets
	Nodes   []string          `json:"nodes,omitempty"`    // targets
	Roles   map[string]string `json:"roles,omitempty"`    // roles of the targets at this moment
	Point   string            `json:"point,omitempty"`    // the point that it is tied to
	By      string            `json:"by,omitempty"`       // the client that stood there
	Grant   string            `json:"grant,omitempty"`    // the grant under which it stood there
	For     int64             `json:"for_ns,omitempty"`   // planned length
	Proof   string            `json:"proof,omitempty"`    // what was observed when it took effect
	Began   int64             `json:"began_ns,omitempty"` // when it struck, on the event of its proof; 0: at its invoke
	Delays  bool              `json:"delays,omitempty"`   // it delays what its clients ask of the resource
	Stops   bool              `json:"stops,omitempty"`    // its clients record nothing while it is at work
	Vain    bool              `json:"vain,omitempty"`     // it struck, but found nothing to take away
	// granted: with a grant to another client, if that comes before its planned length is over
	Ends string `json:"ends,omitempty"`
}

// Whom returns the names of the targets, for people; empty: it names none.
func (f Fault) Whom() string { return strings.Join(slices.Concat(f.Clients, f.Nodes), ", ") }

// Stall is the value of f:stall: a ticker that was due every few ms was late. The event's own time is the end of the
// gap.
type Stall struct {
	Late int64 `json:"late_ns"`
}

// Pressure is the value of f:pressure: of the last Span ns, up to the event's own time, runnable tasks waited for a
// processor for CPU ns, and for a disk for IO ns. Servers is how long the one thread of our servers that waited
// longest for a processor waited; nil if it was not counted.
type Pressure struct {
	Span    int64  `json:"span_ns"`
	CPU     int64  `json:"cpu_ns"`
	IO      int64  `json:"io_ns"`
	Servers *int64 `json:"servers_ns,omitempty"`
}

// ClockStep is the value of f:clock: the wall clock moved by Step ns.
type ClockStep struct {
	Step int64 `json:"step_ns"`
}

// Phases of a run, in order (f:phase).
const (
	PhaseWork  = "work"  // the workload runs, faults strike
	PhaseQuiet = "quiet" // all faults are healed, the workload still runs; not in runs without faults
	PhaseFinal = "final" // each client finishes one last section
)
