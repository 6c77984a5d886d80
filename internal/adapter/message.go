package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Protocol is the version that this package speaks.
const Protocol = 1

// The environment by which an adapter finds its pipes, and where they are.
const (
	EnvIn  = "LOCKSTORM_IN"
	EnvOut = "LOCKSTORM_OUT"

	fdIn, fdOut = 3, 4
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 10

// Requests to an adapter.
const (
	opHello   = "hello"   // what are you?
	opOpen    = "open"    // who you serve, and where the servers are
	opPing    = "ping"    // what time is it?
	opAcquire = "acquire" // wait for the lock
	opTry     = "try"     // one try
	opRelease = "release"
	opExtend  = "extend"
	opAsk     = "ask"     // do you still hold it?
	opRead    = "read"    // a register of the store, under a grant
	opWrite   = "write"   // likewise
	opCollect = "collect" // run your garbage collector
	opCancel  = "cancel"  // no longer wait; the acquire itself is answered
	opGo      = "go"      // go on after a notice with a number
)

// What an adapter answers.
const (
	ansOK          = "ok"
	ansGranted     = "granted"
	ansBusy        = "busy"
	ansNotHeld     = "not-held"
	ansNotSent     = "not-sent"
	ansConflict    = "conflict" // the store has undone it: another client was first
	ansError       = "error"    // nobody can tell whether it happened
	ansUnsupported = "unsupported"
)

// What an adapter tells unasked. Those with a number wait for go.
const (
	notePreparing = "preparing" // before it says what it is
	noteLost      = "lost"
	noteOpened    = "opened"    // a session, by its lease
	noteRenewing  = "renewing"  // with a number
	noteRenewed   = "renewed"   // of that number
	noteGivingUp  = "giving-up" // with a number
	noteGaveUp    = "gave-up"   // of that number
	notePoint     = "point"     // with a number
)

// clockMonotonic is the clock of an adapter whose times are CLOCK_MONOTONIC in ns.
const clockMonotonic = "monotonic"

// request is a line to an adapter.
type request struct {
	ID       int64  `json:"id,omitempty"`
	Op       string `json:"op"`
	Protocol int    `json:"protocol,omitempty"` // hello
	*Opening        // open
	Lock     string `json:"lock,omitempty"`
	Owner    string `json:"owner,omitempty"` // unique to the attempt
	Mode     string `json:"mode,omitempty"`
	TTL      int64  `json:"ttl_ns,omitempty"`
	Hold     int64  `json:"hold,omitempty"`      // the id of the attempt that was granted, or that is to be cancelled
	N        int64  `json:"n,omitempty"`         // go
	Length   int64  `json:"length_ns,omitempty"` // collect
	Register string `json:"register,omitempty"`  // read, write
	Base     string `json:"base,omitempty"`      // write: what was read
	Value    string `json:"value,omitempty"`     // write
}

// Opening is what an adapter is told before its first attempt.
type Opening struct {
	Run     string `json:"run"`
	Client  string `json:"client"`
	Nodes   []Node `json:"nodes"`
	Dir     string `json:"dir"` // shared by all clients of the run
	Lease   int64  `json:"lease_ns"`
	Retry   int64  `json:"retry_ns"`
	Timeout int64  `json:"timeout_ns"`
	Seed    uint64 `json:"seed"`
	// Params are the parameters of its description, with the values of this run.
	Params map[string]string `json:"params,omitempty"`
}

// Node is a server as this client reaches it.
type Node struct {
	Name string `json:"name"`
	Host string `json:"host"`
	Port int    `json:"port"`
}

// line is one from an adapter: an answer, or a notice. Fields that are not known are left alone.
type line struct {
	ID       int64       `json:"id"`
	Answer   string      `json:"answer"`
	Notice   string      `json:"notice"`
	N        int64       `json:"n"`
	Hold     int64       `json:"hold"`
	Message  string      `json:"message"`
	Sent     *nanos      `json:"sent"`
	Deadline *nanos      `json:"deadline"`
	TTL      *nanos      `json:"ttl_ns"`
	Now      *nanos      `json:"now"`
	Token    *string     `json:"token"`
	Lease    string      `json:"lease"`
	Owner    string      `json:"owner"`
	Nodes    []string    `json:"nodes"`
	Held     *bool       `json:"held"`
	Value    *string     `json:"value"`  // read
	From     *nanos      `json:"from"`   // collect: when the collector began to stop the program, ...
	To       *nanos      `json:"to"`     // ... and when it let it go on
	Name     string      `json:"name"`   // of a point
	Source   string      `json:"source"` // of a point: the line of code that reaches it, as FILE:LINE
	Failed   string      `json:"failed"` // renewed, gave-up: an answer other than ok
	About    Description `json:"about"`  // hello
}

// Description is what an adapter says of its lock: what [backends.Spec] has.
type Description struct {
	Protocol   int               `json:"protocol"`
	Name       string            `json:"name"`
	Version    string            `json:"version"`
	Doc        string            `json:"doc"`
	Library    string            `json:"library"` // with its version; empty: it is the adapter's own
	Topologies []string          `json:"topologies"`
	Servers    []ServerProgram   `json:"servers"` // that make up its topology, where lockstorm has none for it
	Over       string            `json:"over"`    // the topology of lockstorm on which these servers stand, and which keeps data
	Ends       string            `json:"ends"`
	Model      history.Model     `json:"model"`
	Tokens     bool              `json:"tokens"`
	Fair       bool              `json:"fair"`
	Renews     bool              `json:"renews"`
	Buffers    bool              `json:"buffers"`
	Waits      bool              `json:"waits"`   // it has acquire; else it is tried again and again
	NoTry      bool              `json:"no_try"`  // it has no try
	Settles    bool              `json:"settles"` // it has read and write, and what is written takes effect with the release
	Calls      []string          `json:"calls"`
	Signals    []backends.Signal `json:"signals"`
	Points     []history.Point   `json:"points"`
	Clock      string            `json:"clock"` // "monotonic", or empty: its times are not used
	Keys       []string          `json:"keys"`  // of a lock in its store, with {run} and {lock} in them
	Recovery   int64             `json:"recovery_ns"`
	Notes      string            `json:"notes"`
	Versions   map[string]string `json:"versions"` // of what else is behind it, for the record
	Params     []catalog.Param   `json:"params"`   // that may follow its command, as in exec:cmd=FILE,NAME=VALUE
}

// nanos is a time in ns, as a number or, where a language has no such numbers, as a string.
type nanos int64

// UnmarshalJSON reads either.
func (n *nanos) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	if err != nil {
		return fmt.Errorf("the time %s in the adapter's message is not a whole number of nanoseconds", b)
	}
	*n = nanos(v)
	return nil
}

// parse reads a line.
func parse(b []byte) (line, error) {
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return l, fmt.Errorf("the adapter wrote a line that is no message: %w: %s", err, shown(b))
	}
	if (l.Answer == "") == (l.Notice == "") {
		return l, fmt.Errorf("the adapter wrote a line that is neither an answer nor a notice: %s", shown(b))
	}
	return l, nil
}

// shown is a line as errors quote it.
func shown(b []byte) string {
	const most = 120
	if len(b) > most {
		return fmt.Sprintf("%q and %d bytes more", b[:most], len(b)-most)
	}
	return fmt.Sprintf("%q", b)
}

// definite is the error that an answer stands for.
func definite(answer, message string) error {
	switch answer {
	case ansOK, ansGranted:
		return nil
	case ansUnsupported:
		return fmt.Errorf("%w: the adapter does not support this operation%s", backends.ErrNotSent, after(message))
	}
	err := map[string]error{
		ansBusy: backends.ErrBusy, ansNotHeld: backends.ErrNotHeld, ansNotSent: backends.ErrNotSent, ansConflict: backends.ErrConflict,
	}[answer]
	if err == nil {
		return fmt.Errorf("the adapter says: %s", message)
	}
	return fmt.Errorf("%w%s", err, after(message))
}

func after(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}
