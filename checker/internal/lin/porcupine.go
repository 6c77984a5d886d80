package lin

import (
	"context"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// engine asks Porcupine.
type engine struct{ model porcupine.Model }

var _ Engine = (*engine)(nil)

func (e *engine) Judge(ops []Op, within time.Duration) Answer {
	in := make([]porcupine.Operation, len(ops))
	for i := range ops {
		in[i] = porcupine.Operation{Input: &ops[i], Call: ops[i].Call, Return: ops[i].Ret}
	}
	switch porcupine.CheckOperationsTimeout(e.model, in, within) {
	case porcupine.Ok:
		return Legal
	case porcupine.Illegal:
		return Illegal
	}
	return Undecided
}

// stepper makes Porcupine's step of a sequential specification: pure, quick, and it looks
// at the context so that a time-out binds.
func stepper[S any](step func(S, *Op) (bool, S)) func(context.Context, any, any, any) (bool, any) {
	return func(ctx context.Context, state, input, _ any) (bool, any) {
		if ctx.Err() != nil {
			return false, state
		}
		return step(state.(S), input.(*Op))
	}
}

func describe(input, _ any) string {
	op := input.(*Op)
	return fmt.Sprintf("%s %s", kindNames[op.Kind], op.ID)
}

// free is the state in which nobody holds the mutex; else the state is the grant's number.
const free = -1

// mutex is an owner-aware mutex. Leases are in its operations: an expiry is an optional
// release that is available from sent + ttl on.
var mutex = &engine{porcupine.Model{
	Init: func() any { return free },
	StepContext: func(ctx context.Context, state, input, _ any) (bool, any) {
		if ctx.Err() != nil {
			return false, state
		}
		return stepMutex(state.(int), input.(*Op))
	},
	Equal:             func(a, b any) bool { return a.(int) == b.(int) },
	Hash:              func(s any) uint64 { return uint64(s.(int) + 1) },
	DescribeOperation: describe,
}}

// stepMutex is the sequential specification of a mutex.
func stepMutex(holder int, op *Op) (bool, any) {
	mine := holder == op.Grant
	switch op.Kind {
	case Acquire:
		return holder == free, op.Grant
	case Release:
		return mine, free
	case Renew:
		return mine, holder
	case NotHeld:
		return !mine, holder
	default: // May: optional, without effect unless its grant holds the lock
		if mine {
			return true, free
		}
		return true, holder
	}
}

// MaxOps bounds the memory of one search: Porcupine needs about n*n/8 bytes.
const MaxOps = 20_000
