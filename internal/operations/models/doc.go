// Package models judges histories of operations against what an object allows: is there an order of all operations, each
// between its beginning and its end, in which each does what the object would do?
//
//	operations.History -> by key -> Model.compile -> search -> Verdict, and where there is no order, the few
//	                                                operations of which that is so
//
// An operation of unknown outcome may take effect at any time after its beginning, or never; one of an unknown client may be
// of any client. What an object allows is all that is asked: a history has no leases, no faults and no registers, so nothing
// is said of these.
package models

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/operations"
)

// kind is what an operation does.
type kind uint8

const (
	acquire kind = iota
	release
	read
	write
	swap // compare-and-set
)

// op is an operation as a model sees it.
type op struct {
	kind  kind
	owner int32
	a, b  int64 // token; value read or written; expected and new value
	call  *operations.Call
	maybe bool // whether it took effect is not known, only that it did so before its end
}

// class is what makes two operations of unknown outcome interchangeable, but for when they began.
type class struct {
	kind  kind
	owner int32
	a, b  int64
}

func (o *op) class() class { return class{o.kind, o.owner, o.a, o.b} }

// state is that of an object. What a field is, the model says.
type state struct {
	owner int32
	n     int64
	more  string
}

// Model is what an object allows.
type Model struct {
	Name string // with its parameter
	Doc  string

	initial string // value of a register
	rises   bool   // n of a state, as uint64, only rises, and a smaller one allows all that a greater one does
	names   map[string]kind
	// make fills an operation in from its values, and may leave it out.
	make func(t *table, o *op) (bool, error)
	step func(s state, o class) (state, bool)
	// help lists operations of unknown outcome that may lead from a state to one in which goal is possible: a superset
	// of the first ones of each shortest way.
	help func(s state, goal class, known []class) []class
	tell func(t *table, s state) string
}

// Catalogue are the models by name, each with its parameter's default.
func Catalogue() []Model {
	return []Model{mutex(), owned(), reentrant(), fenced(), semaphore(1), register("")}
}

// Parse finds a model: NAME, semaphore:permits=N, register:initial=VALUE.
func Parse(text string) (Model, error) {
	name, rest, given := strings.Cut(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	switch {
	case name == "semaphore" && key == "permits":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return Model{}, fmt.Errorf("the parameter permits is %q: it must be a whole number, 1 or more", value)
		}
		return semaphore(n), nil
	case name == "semaphore":
		return Model{}, fmt.Errorf("a semaphore needs its number of permits: --model semaphore:permits=3")
	case name == "register" && key == "initial":
		return register(value), nil
	}
	m, known := lists.Find(Catalogue(), func(m Model) bool { return m.Name == name })
	if !known {
		names := lists.Map(Catalogue(), func(m Model) string { return m.Name })
		return Model{}, fmt.Errorf("unknown model %q: use one of %s", name, strings.Join(names, ", "))
	}
	if given {
		return Model{}, fmt.Errorf("model %s has no parameter %q", name, key)
	}
	return m, nil
}

// table gives numbers to owners and values.
type table struct {
	owners []string
	values []string
	owner  map[string]int32
	value  map[string]int64
}

func newTable(initial string) *table {
	t := &table{owner: map[string]int32{}, value: map[string]int64{}}
	t.text(cmp.Or(initial, "nil"))                                           // what a register begins with is number 0
	t.owners = []string{nobody: "nobody", anyone: "a client without a name"} // whatever names there are
	return t
}

func (t *table) as(name string) int32 {
	n, ok := t.owner[name]
	if !ok {
		n = int32(len(t.owners))
		t.owner[name], t.owners = n, append(t.owners, name)
	}
	return n
}

// of is the number of a value.
func (t *table) of(v any) int64 { return t.text(operations.Canonical(v)) }

func (t *table) text(s string) int64 {
	n, ok := t.value[s]
	if !ok {
		n = int64(len(t.values))
		t.value[s], t.values = n, append(t.values, s)
	}
	return n
}

// compile makes the operations of one object.
func (m Model) compile(t *table, calls []*operations.Call) ([]op, error) {
	var out []op
	for _, c := range calls {
		k, ok := m.names[c.F]
		if !ok {
			return nil, fmt.Errorf("line %d: model %s has no operation %q: its operations are %s", c.Invoke.Line, m.Name, c.F,
				m.operations())
		}
		o := op{kind: k, call: c, owner: anyone}
		if !c.Anyone {
			o.owner = t.as(c.Owner)
		}
		keep, err := m.make(t, &o)
		if c.Out == false && !c.Unknown() && (k == acquire || k == release) {
			err = errors.New("the operation has the value `false`, so it did not happen: record it with the type \"fail\"")
		}
		if err != nil {
			line := c.Invoke.Line
			if c.Return != nil {
				line = c.Return.Line
			}
			return nil, fmt.Errorf("line %d: %s of process %s: %w", line, c.F, c.Process, err)
		}
		if keep {
			out = append(out, o)
		}
	}
	return out, nil
}

func (m Model) operations() string {
	return strings.Join(slices.Sorted(maps.Keys(m.names)), ", ")
}
