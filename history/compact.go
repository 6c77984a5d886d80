package history

import (
	"encoding/json"
	"hash/maphash"
	"slices"
)

// Event is one line of the record, as it was read: its methods return the fields of its [Line]. It is small, because there may be
// millions of them, and cannot be changed: change its line, and make [Events] of all of them anew.
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

// table has what events of the same file have in common, by numbers. Number 0 is nothing.
type table struct {
	texts store[string]
	terms store[terms]
	rare  store[rare]
	lists store[[]string]
}

// store grows in pieces: nothing in it is moved when it is long.
type store[T any] struct{ pieces [][]T }

const (
	pieceBits = 10
	piece     = 1 << pieceBits
)

// add returns the number of what it adds.
func (s *store[T]) add(v T) uint32 {
	if len(s.pieces) == 0 {
		s.pieces = [][]T{make([]T, 1)} // number 0
	}
	last := len(s.pieces) - 1
	if len(s.pieces[last]) == piece {
		s.pieces = append(s.pieces, make([]T, 0, piece))
		last++
	}
	s.pieces[last] = append(s.pieces[last], v)
	return uint32(last<<pieceBits + len(s.pieces[last]) - 1)
}

func (s *store[T]) at(n uint32) *T { return &s.pieces[n>>pieceBits][n&(piece-1)] }

// terms are those of a lease, which one event of a section has.
type terms struct {
	sent, ttl, deadline Opt
	mode, owner, lease  uint32 // texts
}

// rare is what few events have.
type rare struct {
	error, message, node, json uint32 // texts
	f, kind                    uint32 // texts of a function and of a type that there is not: no file has such a type
	nodes                      uint32 // a list
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

// packer fills a table.
type packer struct {
	*table
	seed  maphash.Seed
	kept  [keptTexts]uint32 // texts that occurred, by their hashes: most of those in use are there once
	terms terms             // of the event that is being made
	rare  rare
	last  uint32 // list
}

// keptTexts is a power of two: names of grants, leases, locks and parties that are in use at a time.
const keptTexts = 1 << 12

func newPacker() *packer {
	return &packer{seed: maphash.MakeSeed(), table: &table{}}
}

// begin forgets the event before.
func (p *packer) begin() { p.terms, p.rare = terms{}, rare{} }

// seal ends an event.
func (p *packer) seal(e *Event) {
	e.in = p.table
	if p.terms != (terms{}) {
		e.terms = p.table.terms.add(p.terms)
	}
	if p.rare != (rare{}) {
		e.rare = p.table.rare.add(p.rare)
	}
}

// intern is the number of a text; one that occurred lately has the same again.
func (p *packer) intern(s []byte) uint32 {
	if len(s) == 0 {
		return 0
	}
	kept := &p.kept[maphash.Bytes(p.seed, s)%keptTexts]
	if *kept == 0 || *p.texts.at(*kept) != string(s) {
		*kept = p.add(string(s))
	}
	return *kept
}

// add is the number of a text of which there are hardly ever two.
func (p *packer) add(s string) uint32 {
	if s == "" {
		return 0
	}
	return p.texts.add(s)
}

// list is the number of a list, which is mostly the last one again.
func (p *packer) list(l []string) uint32 {
	if len(l) == 0 {
		return 0
	}
	if p.last == 0 || !slices.Equal(*p.lists.at(p.last), l) {
		p.last = p.lists.add(slices.Clone(l))
	}
	return p.last
}

// of is intern of a string.
func (p *packer) of(s string) uint32 {
	if s == "" {
		return 0
	}
	kept := &p.kept[maphash.String(p.seed, s)%keptTexts]
	if *kept == 0 || *p.texts.at(*kept) != s {
		*kept = p.add(s)
	}
	return *kept
}

func (p *packer) packType(e *Event, t Type) {
	if i := slices.Index(kinds[:], t); i >= 0 {
		e.kind = kind(i)
		return
	}
	p.rare.kind = p.of(string(t))
}

func (p *packer) packF(e *Event, f string) {
	if e.f = functionNumbers[f]; e.f == 0 {
		p.rare.f = p.of(f)
	}
}

func (p *packer) packProcess(e *Event, v Process) {
	e.n, e.process = v.N, p.of(v.Name)
}

func (p *packer) packValue(e *Event, v Value) {
	p.rare.json = p.add(string(v.JSON))
	if v.Base.Set {
		e.base, e.has = v.Base.V, e.has|hasBase
	}
	if v.New.Set {
		e.new, e.has = v.New.V, e.has|hasNew
	}
}

func (p *packer) packToken(e *Event, v Opt) {
	if v.Set {
		e.token, e.has = v.V, e.has|hasToken
	}
}
