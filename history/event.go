package history

import "encoding/json"

// Event is one line of the record, as it was read: its methods return the fields of its [Line]. It is small, because there may be
// millions of them. Apart from its place and time it cannot be changed: change its line, and make [Events] of all of them anew.
type Event struct {
	Index int64 // position in the history, from 0
	Time  int64 // ns since the start of the run
	Seq   int64 // position in the log of its party, from 0

	n                                             int64 // number of its process
	base, new, token                              int64
	in                                            *table
	process, party, client, lock, grant, register uint32 // texts
	terms, rare                                   uint32
	kind                                          kind
	f                                             uint8 // number of a function; 0: rare has it
	has                                           uint8 // which of base, new and token
}

// kind is a type of an event.
type kind uint8

var kinds = [...]Type{"", Invoke, OK, Fail, Info}

const (
	hasBase = 1 << iota
	hasNew
	hasToken
)

func (e *Event) text(n uint32) string {
	if n == 0 {
		return ""
	}
	return *e.in.texts.at(n)
}

func (e *Event) list(n uint32) []string {
	if n == 0 {
		return nil
	}
	return *e.in.lists.at(n)
}

var (
	noTerms terms
	noRare  rare
)

func (e *Event) ofTerms() *terms {
	if e.terms == 0 {
		return &noTerms
	}
	return e.in.terms.at(e.terms)
}

func (e *Event) ofRare() *rare {
	if e.rare == 0 {
		return &noRare
	}
	return e.in.rare.at(e.rare)
}

// Type returns whether a call begins or how it ended.
func (e *Event) Type() Type {
	if e.kind == 0 {
		return Type(e.text(e.ofRare().kind))
	}
	return kinds[e.kind]
}

// Process returns the logical process.
func (e *Event) Process() Process { return Process{N: e.n, Name: e.text(e.process)} }

// functions are known by their numbers.
var functions = [...]string{
	"", FRun, FEnd, FPhase, FAcquire, FTryAcquire, FRenew, FRelease, FRead, FWrite, FWork, FLost, FAsked, FLease, FPoint, FStall,
	FPressure, FClock, FFault, FHeal, FKill, FBreach, FRole,
}

var functionNumbers = func() map[string]uint8 {
	m := map[string]uint8{}
	for i, f := range functions {
		m[f] = uint8(i)
	}
	return m
}()

// F returns the name of the operation or notice.
func (e *Event) F() string {
	if e.f == 0 {
		return e.text(e.ofRare().f)
	}
	return functions[e.f]
}

// Base returns the value that a read or a write saw.
func (e *Event) Base() Opt { return Opt{V: e.base, Set: e.has&hasBase != 0} }

// New returns the value that a write writes.
func (e *Event) New() Opt { return Opt{V: e.new, Set: e.has&hasNew != 0} }

// Token returns the fencing token of the grant.
func (e *Event) Token() Opt { return Opt{V: e.token, Set: e.has&hasToken != 0} }

// Value returns the payload. Its JSON is a copy.
func (e *Event) Value() Value {
	v := Value{Base: e.Base(), New: e.New()}
	if n := e.ofRare().json; n != 0 {
		v.JSON = json.RawMessage(e.text(n))
	}
	return v
}

// HasJSON reports whether the payload is free JSON.
func (e *Event) HasJSON() bool { return e.ofRare().json != 0 }

// AppendJSON appends the event as one line of JSON, without the newline.
func (e *Event) AppendJSON(b []byte, withIndex bool) []byte {
	l := e.Line()
	return l.AppendJSON(b, withIndex)
}

// Events are those of lines.
func Events(lines ...Line) []Event {
	p := newPacker()
	out := make([]Event, len(lines))
	for i := range lines {
		out[i] = p.pack(&lines[i])
	}
	return out
}

// Event returns the event of a single line.
func (l Line) Event() *Event { return &Events(l)[0] }

// Lines are those of events.
func Lines(events []Event) []Line {
	out := make([]Line, len(events))
	for i := range events {
		out[i] = events[i].Line()
	}
	return out
}
