package checker

import (
	"context"
	"fmt"

	"github.com/anishathalye/porcupine"
)

// lockOp is what Porcupine sees of an operation on one lock. Grants are numbered; each
// attempt is an owner of its own.
type lockOp struct {
	kind  opKind
	grant int
	id    string // of the grant, for people
}

type opKind uint8

const (
	opAcquire opKind = iota // takes the free lock
	opRelease               // the store removed it: it was held by this grant
	opRenew                 // extended it: it was held by this grant at one moment
	opNotHeld               // the store said that this grant does not hold it
	opMay                   // may free it, or may never take effect: an unknown release, an expiry, a death
)

var opNames = [...]string{"acquire", "release", "renew", "not-held", "may end"}

// free is the state in which nobody holds the lock; else the state is the grant's number.
const free = -1

// lockModel is an owner-aware mutex. Leases are in its operations: an expiry is an
// optional release that is available from sent + ttl on. Step is pure and quick; it
// looks at ctx so that a time-out binds.
func lockModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return free },
		StepContext: func(ctx context.Context, state, input, _ any) (bool, any) {
			if ctx.Err() != nil {
				return false, state
			}
			return stepLock(state.(int), input.(lockOp))
		},
		Equal: func(a, b any) bool { return a.(int) == b.(int) },
		Hash:  func(s any) uint64 { return uint64(s.(int) + 1) },
		DescribeOperation: func(input, _ any) string {
			op := input.(lockOp)
			return fmt.Sprintf("%s %s", opNames[op.kind], op.id)
		},
	}
}

// stepLock is the sequential specification of a lock.
func stepLock(holder int, op lockOp) (bool, any) {
	mine := holder == op.grant
	switch op.kind {
	case opAcquire:
		return holder == free, op.grant
	case opRelease:
		return mine, free
	case opRenew:
		return mine, holder
	case opNotHeld:
		return !mine, holder
	default: // opMay: linearized where it is of no use, it has had no effect
		if mine {
			return true, free
		}
		return true, holder
	}
}
