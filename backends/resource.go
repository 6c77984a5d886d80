package backends

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Resource is what the lock protects, seen by one client. It is opened with the lease, so that a
// database can be the resource, its transaction being the section.
type Resource interface {
	Open(ctx context.Context, lock, grant string, lease Info) (Access, error)
	Close() error
}

// Access is the resource under one grant. Errors are those of this package.
type Access interface {
	Read(ctx context.Context, register string) (int64, error)
	Write(ctx context.Context, register string, base, value int64) error
}

// Settler is a lease of a [Spec] that Settles.
type Settler interface {
	// Settled says, after the release, what became of the writes: nil where all of them were
	// applied; an error as those of a write. done is false while that is not known yet: the
	// transaction ends with the release of another lease.
	Settled() (done bool, err error)
}

// Fenced is the name of the register whose requests are guarded: by a token, or by the lock's own key.
const Fenced = "fenced"

// Register is a resource in a store: values that live beside the lock, on its servers. The one
// named Fenced takes a request only while the lock's own key is there, in the same transaction; it
// keeps no log, and is judged by what the clients were told.
type Register struct {
	Name       string
	Doc        string
	Topologies []string // on which it can be had
	Open       func(ctx context.Context, env Env) (Resource, error)
}

// EntryName is the name in the catalogue.
func (r Register) EntryName() string { return r.Name }

// EntryDoc is the line that explains it.
func (r Register) EntryDoc() string { return r.Doc }

// Valid says in a sentence what is wrong with it.
func (r Register) Valid() error {
	switch {
	case r.Open == nil:
		return errors.New("the field `Open` is missing: it must be a function that connects to the register")
	case len(r.Topologies) == 0 || slices.Contains(r.Topologies, ""):
		return errors.New("the field `Topologies` of the register is empty: name at least one topology (set of servers) on which the " +
			"register can run")
	}
	return nil
}

// Registers is a list of registers by name.
type Registers = catalog.Catalog[Register]
