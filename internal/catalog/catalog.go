// Package catalog is the explicit list in which backends, faults, workloads and checks
// are named, and the parameters that may follow a name, as in
// client-pause:at=before-write,for=1.5ttl. A catalogue is a value that is passed in:
// nothing registers itself. Lists, generated docs and the conformance tests derive from it.
//
//	"name:key=value" -> Split -> Catalog.Get (a spec with its [Param] list) -> Parse -> [Values]
package catalog

import (
	"fmt"
	"regexp"
	"strings"
)

// Entry is what every spec has: a name to be chosen by and a line that explains it.
type Entry interface {
	EntryName() string
	EntryDoc() string
}

// Renamed is an entry that can also be chosen by names that it had, or has elsewhere.
type Renamed interface{ EntryAliases() []string }

// Validator is an entry that can say in a sentence what is wrong with it.
type Validator interface{ Valid() error }

// Catalog holds specs by name, in the order in which they were added.
type Catalog[S Entry] struct {
	kind    string
	entries []S
	byName  map[string]int
	other   map[string]string // where to get what is not in this program, by name

	unlisted map[string]bool // found by name only
}

// New is an empty catalogue of the given kind ("backend"), which errors name, filled
// with specs. It panics as Add does.
func New[S Entry](kind string, specs ...S) *Catalog[S] {
	c := &Catalog[S]{kind: kind, byName: map[string]int{}}
	c.Add(specs...)
	return c
}

var goodName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Add appends specs. A bad or a duplicate name, an empty doc, and whatever an entry that is
// a [Validator] finds wrong with itself are programmer errors: it panics with a sentence, at
// start-up, so that nothing panics later.
func (c *Catalog[S]) Add(specs ...S) {
	for _, s := range specs {
		name := s.EntryName()
		_, taken := c.byName[name]
		switch {
		case !goodName.MatchString(name):
			panic(fmt.Sprintf("catalogue: %q is not a valid name for a %s: use lower case words joined by -", name, c.kind))
		case taken:
			panic(fmt.Sprintf("catalogue: the %s %q is defined twice: give one of the two another name", c.kind, name))
		case strings.TrimSpace(s.EntryDoc()) == "":
			panic(fmt.Sprintf("catalogue: %s %q has no description: set its field Doc", c.kind, name))
		}
		if v, ok := any(s).(Validator); ok {
			if err := v.Valid(); err != nil {
				panic(fmt.Sprintf("catalogue: %s %q: %v", c.kind, name, err))
			}
		}
		c.byName[name] = len(c.entries)
		c.entries = append(c.entries, s)
		if r, ok := any(s).(Renamed); ok {
			c.alias(r.EntryAliases(), name)
		}
	}
}

// alias lets an entry be chosen by other names, too; lists do not show them.
func (c *Catalog[S]) alias(names []string, of string) {
	for _, name := range names {
		if _, taken := c.byName[name]; taken {
			panic(fmt.Sprintf("catalogue: %s %q has the alias %q, but another entry already has this name or alias", c.kind, of, name))
		}
		c.byName[name] = c.byName[of]
	}
}

// AddUnlisted appends specs as Add does, that are found by name and not listed.
func (c *Catalog[S]) AddUnlisted(specs ...S) {
	c.Add(specs...)
	if c.unlisted == nil {
		c.unlisted = map[string]bool{}
	}
	for _, s := range specs {
		c.unlisted[s.EntryName()] = true
	}
}

// Moved says where to get an entry that another program has: the error of its name says it.
func (c *Catalog[S]) Moved(name, where string) {
	if c.other == nil {
		c.other = map[string]string{}
	}
	c.other[name] = where
}

// All lists the specs in the order in which they were added.
func (c *Catalog[S]) All() (specs []S) {
	for _, s := range c.entries {
		if !c.unlisted[s.EntryName()] {
			specs = append(specs, s)
		}
	}
	return specs
}

// Names lists the names in the order in which they were added.
func (c *Catalog[S]) Names() []string {
	names := []string{}
	for _, s := range c.All() {
		names = append(names, s.EntryName())
	}
	return names
}

// Get finds a spec; the error of an unknown name lists the valid ones.
func (c *Catalog[S]) Get(name string) (S, error) {
	if i, ok := c.byName[name]; ok {
		return c.entries[i], nil
	}
	var none S
	if where, ok := c.other[name]; ok {
		return none, fmt.Errorf("%s %q is not contained in this program: %s", c.kind, name, where)
	}
	if hint := DidYouMean(name, c.Names()); hint != "" {
		return none, fmt.Errorf("unknown %s %q: %s", c.kind, name, strings.TrimSpace(hint))
	}
	return none, fmt.Errorf("unknown %s %q: choose one of %s", c.kind, name, strings.Join(c.Names(), ", "))
}
