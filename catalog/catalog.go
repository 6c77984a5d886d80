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
			panic(fmt.Sprintf("catalogue: %q is no name for a %s: want lower case words joined by -", name, c.kind))
		case taken:
			panic(fmt.Sprintf("catalogue: there are two %ss named %q", c.kind, name))
		case strings.TrimSpace(s.EntryDoc()) == "":
			panic(fmt.Sprintf("catalogue: %s %q has no doc", c.kind, name))
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
			panic(fmt.Sprintf("catalogue: %s %q has another name, %q, which is taken", c.kind, of, name))
		}
		c.byName[name] = c.byName[of]
	}
}

// All lists the specs in the order in which they were added.
func (c *Catalog[S]) All() []S { return append([]S(nil), c.entries...) }

// Names lists the names in the order in which they were added.
func (c *Catalog[S]) Names() []string {
	names := make([]string, len(c.entries))
	for i, s := range c.entries {
		names[i] = s.EntryName()
	}
	return names
}

// Get finds a spec; the error of an unknown name lists the valid ones.
func (c *Catalog[S]) Get(name string) (S, error) {
	if i, ok := c.byName[name]; ok {
		return c.entries[i], nil
	}
	var none S
	return none, fmt.Errorf("unknown %s %q: %schoose one of %s", c.kind, name, DidYouMean(name, c.Names()), strings.Join(c.Names(), ", "))
}
