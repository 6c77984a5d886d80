package history

import (
	"encoding/json"
	"strconv"
)

// Type says whether an event begins a call or returns from it and, for a return, what is known.
type Type string

// The four types, named as in Jepsen.
const (
	Invoke Type = "invoke" // the call begins; its request has not left yet
	OK     Type = "ok"     // it happened
	Fail   Type = "fail"   // it certainly did not happen
	Info   Type = "info"   // unknown: it may or may not have happened; also a notice
)

// Functions (field f) of an event.
const (
	FRun        = "run"         // first event of every log: a [Run]
	FEnd        = "end"         // last event of a complete log: an [End]
	FPhase      = "phase"       // the controller entered a phase: a JSON string
	FAcquire    = "acquire"     // waits for the lock
	FTryAcquire = "try-acquire" // one try, no waiting
	FRenew      = "renew"       // extends a lease
	FRelease    = "release"     // gives a grant back
	FRead       = "read"        // reads a register under a grant
	FWrite      = "write"       // writes a register under a grant
	FWork       = "work"        // anything else done under a grant
	FLost       = "lost"        // notice: the client learned that it lost a lease
	FAsked      = "asked"       // notice: after the deadline, the library was asked whether the lock is held: an [Asked]
	FLease      = "lease"       // notice: the client created a lease, or joined it: LeaseCreated (no value) or LeaseJoined
	FPoint      = "point"       // a client stands at (invoke) or leaves (ok) a point
	FStall      = "stall"       // a ticker came late: a [Stall]
	FPressure   = "pressure"    // something on the host waited for a processor or a disk: a [Pressure]
	FClock      = "clock"       // the wall clock moved against the monotonic one: a [ClockStep]
	FFault      = "fault"       // a fault is injected (invoke), proven (ok) or not (fail): a [Fault]
	FHeal       = "heal"        // a fault is undone: a [Fault] with the same id
	FKill       = "kill"        // a client or a node is about to be killed
	FBreach     = "breach"      // the path between a client and its lock broke its protocol: nothing of the run counts
	FRole       = "role"        // the role that a node reports changed: a JSON string
)

// Values of f:lease, as JSON strings.
const (
	LeaseCreated = "created" // also the meaning of no value
	LeaseJoined  = "joined"  // another client had created it
)

// Error codes (field error); the list is closed.
const (
	ErrBusy       = "busy"        // somebody else holds the lock
	ErrNotHeld    = "not-held"    // the store says that the caller does not hold it
	ErrNotSent    = "not-sent"    // the request never left
	ErrTimeout    = "timeout"     // no answer in time
	ErrClosed     = "closed"      // the connection broke before the answer
	ErrStaleToken = "stale-token" // the store of the protected data refused an outdated fencing token
	ErrDeadlock   = "deadlock"    // the store refused it, since clients waited for each other
	ErrConflict   = "conflict"    // the store undid it: another client was first
	ErrOther      = "other"       // see message
)

// Process is the logical process of an event: a number for parties that perform operations, a name for those that do
// not (nemesis, register, a client's notices).
type Process struct {
	N    int64
	Name string
}

// IsOp reports whether the process performs operations (has a number).
func (p Process) IsOp() bool { return p.Name == "" }

// String returns the number or the name.
func (p Process) String() string {
	if p.IsOp() {
		return strconv.FormatInt(p.N, 10)
	}
	return p.Name
}

// Opt is an optional integer; its zero value is "absent".
type Opt struct {
	V   int64
	Set bool
}

// Some returns a present integer.
func Some(v int64) Opt { return Opt{V: v, Set: true} }

// Or returns the value, or def if it is absent.
func (o Opt) Or(def int64) int64 {
	if o.Set {
		return o.V
	}
	return def
}

// Value is the payload of an event: the register's update {base, new} for read and write, free JSON for everything
// else.
type Value struct {
	Base, New Opt
	JSON      json.RawMessage
}

// ValueOf encodes v as free JSON. It panics if v cannot be encoded, which is a programmer's error: the types recorded
// are this package's own.
func ValueOf(v any) Value {
	b, err := json.Marshal(v)
	if err != nil {
		panic("history: value cannot be encoded: " + err.Error())
	}
	if string(b) == "null" {
		return Value{} // as it is read back
	}
	return Value{JSON: b}
}

// Into decodes free JSON.
func (v Value) Into(dst any) error { return json.Unmarshal(v.JSON, dst) }

// Line is one line of the record, as it is written. Times are ns since the start of the run; TTL is in ns; fields that do not
// apply are left out of the JSON form. What was read is an [Event].
//
// A field is declared here and in [Event]: event_fields.go (encoder, parser, and what reads an event) and the table of
// docs/history.md are made from the tags by `make docs`, in this order.
//
//	json  its key in JSON and in fixtures
//	keep  own: a string of which there are hardly ever two
//	in    where an event has it, if not in itself
//	text  in fixtures: word, time, number, list; none where it has a place of its own there
//	is    its type, for people; doc: its meaning
type Line struct {
	Index    int64    `json:"index" is:"int" doc:"position of the event in the history, counted from 0 (events in the log file of a party do not have this field)"`
	Time     int64    `json:"time" is:"int, ns" doc:"time since the start of the run, measured with CLOCK_MONOTONIC; all processes of the run count from the same start"`
	Process  Process  `json:"process" is:"int or string" doc:"for an operation: the process number of the client (after an operation with unknown outcome, the client changes to a new number). For a notice (an event that is not part of an operation): the name of the party that recorded the notice (a client, the controller, ...)"`
	Type     Type     `json:"type" is:"string" doc:"~invoke~: an operation begins. ~ok~: the operation happened. ~fail~: the operation certainly did not happen. ~info~: the outcome of the operation is unknown, or the event is a notice"`
	F        string   `json:"f" is:"string" doc:"the name of the operation or notice: see the next table"`
	Value    Value    `json:"value" is:"any" doc:"for a read or write: ~{base, new}~. ~base~ is the value that the client read, ~new~ is the value that the client writes. For other events: see the next table"`
	Error    string   `json:"error" in:"rare" text:"word" is:"string" doc:"the error code: ~busy~, ~not-held~, ~not-sent~, ~timeout~, ~closed~, ~stale-token~, ~deadlock~, ~conflict~, ~other~"`
	Message  string   `json:"message" in:"rare" keep:"own" text:"word" is:"string" doc:"the error in words"`
	Party    string   `json:"party" is:"string" doc:"the party (a client, the controller, ...) whose log contains the event"`
	Seq      int64    `json:"seq" is:"int" doc:"position of the event in the log of its party, counted from 0 without gaps"`
	Client   string   `json:"client" text:"word" is:"string" doc:"the client that acts, or the client that is the target of a fault"`
	Lock     string   `json:"lock" text:"word" is:"string" doc:"the name of the lock"`
	Mode     string   `json:"mode" in:"terms" text:"word" is:"string" doc:"~shared~: the client acquires the lock as a reader. Without this field, the client acquires the lock exclusively"`
	Grant    string   `json:"grant" text:"word" is:"string" doc:"id of the attempt to acquire the lock. If the attempt succeeds, this id is also the id of the grant"`
	Owner    string   `json:"owner" in:"terms" text:"word" is:"string" doc:"the owner name under which the store keeps the grant"`
	Lease    string   `json:"lease" in:"terms" text:"word" is:"string" doc:"the name of the lease; several grants of a session have the same lease"`
	Sent     Opt      `json:"sent" in:"terms" text:"time" is:"int, ns" doc:"the time just before the client sent the request with which it got the lock; measured like ~time~"`
	TTL      Opt      `json:"ttl" in:"terms" text:"time" is:"int, ns" doc:"time to live of the lease"`
	Deadline Opt      `json:"deadline" in:"terms" text:"time" is:"int, ns" doc:"end of the lease: ~sent~ + ~ttl~ - the clock drift that the lock's algorithm allows for"`
	Token    Opt      `json:"token" text:"number" is:"64-bit int" doc:"the fencing token of the grant"`
	Nodes    []string `json:"nodes" in:"rare" text:"list" is:"strings" doc:"the names of the servers that granted the lock, or that answered a renewal of the lease"`
	Register string   `json:"register" text:"word" is:"string" doc:"the name of the register: ~plain~ or ~fenced~; with the workload ~stock~: ~stock~ or ~ledger~"`
	Node     string   `json:"node" in:"rare" text:"word" is:"string" doc:"the server that a ~role~ or ~kill~ event describes"`
}
