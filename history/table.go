package history

import (
	"hash/maphash"
	"slices"
)

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
func (p *packer) of(s string) uint32 { return p.intern([]byte(s)) }

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
