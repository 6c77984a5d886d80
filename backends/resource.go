package backends

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Resource is the protected data, seen by one client. It is opened with the lease, so that a database can be the
// resource and its transaction the section.
type Resource interface {
	Open(ctx context.Context, lock, grant string, lease Info) (Access, error)
	Close() error
}

// Access is the resource under one grant. It returns the errors of this package.
type Access interface {
	Read(ctx context.Context, register string) (int64, error)
	Write(ctx context.Context, register string, base, value int64) error
}

// Settler is a lease of a [Spec] that Settles.
type Settler interface {
	// Settled reports, after the release, the outcome of the writes: nil if all of them were applied, else an error as
	// of a write. done is false while the outcome is open, because the transaction ends with the release of another
	// lease.
	Settled() (done bool, err error)
}

// Fenced is the name of the register whose requests are guarded, by a token or by the lock's own key.
const Fenced = "fenced"

// Register is a resource in a store: values beside the lock, on its servers. The one named Fenced accepts a request
// only while the lock's own key is there, in the same transaction. It keeps no log, and is judged by the answers that
// clients got.
type Register struct {
	Name       string
	Doc        string
	Topologies []string // topologies that have it
	Open       func(ctx context.Context, env Env) (Resource, error)
}

// EntryName returns the name in the catalogue.
func (r Register) EntryName() string { return r.Name }

// EntryDoc returns the line that explains it.
func (r Register) EntryDoc() string { return r.Doc }

// Valid returns what is wrong with the register, in a sentence.
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
