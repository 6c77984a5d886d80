package backends

import "context"

// Calls that the API of a backend has beside acquire and release (Spec.Calls). The variants of a workload make them;
// see package workloads.
const (
	CallExtend = "extend" // its leases implement [Extender]
	CallAsk    = "ask"    // its leases implement [Asker]
	CallToken  = "token"  // the store keeps Request.Owner, whatever it is
	CallReuse  = "reuse"  // Request.Reuse: its lock objects can be used again
)

// Extender is a lease that its user can extend by a call. Extend is safe for use beside every other call on the
// lease.
type Extender interface {
	// Extend returns ErrNotHeld if the library says that the lock is lost; other errors leave that open.
	Extend(ctx context.Context) (Renewal, error)
}

// Asker is a lease that can be asked whether it is still held.
type Asker interface {
	Held(ctx context.Context) (bool, error)
}
