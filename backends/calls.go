package backends

import "context"

// The calls that the API of a backend has beside acquire and release (Spec.Calls): the variants
// of a workload make them, see package workloads.
const (
	CallExtend = "extend" // its leases are an [Extender]
	CallAsk    = "ask"    // its leases are an [Asker]
	CallToken  = "token"  // Request.Owner is what the store keeps, whatever it is
	CallReuse  = "reuse"  // Request.Reuse: it has a lock object that can be used again
)

// Extender is a lease that its user can extend by a call. It may be called beside everything
// else that is done with the lease.
type Extender interface {
	// Extend returns ErrNotHeld where the library says that the lock is lost; other errors say
	// nothing about it.
	Extend(ctx context.Context) (Renewal, error)
}

// Asker is a lease that can be asked whether it is still held.
type Asker interface {
	Held(ctx context.Context) (bool, error)
}
