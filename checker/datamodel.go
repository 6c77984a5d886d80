package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// sectionOp is a section as one atomic step, from its first read to its last write of one
// register: a read-modify-write, a section that only read, or a write that sets a value
// whatever was there.
type sectionOp struct {
	base, value int64
	writes      bool
	blind       bool // it read nothing before
	unknown     bool // it may have had no effect: then it stands at the end
}

// sectionModel is a register whose only operations are sections.
func sectionModel(start int64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return start },
		StepContext: func(ctx context.Context, state, input, _ any) (bool, any) {
			if ctx.Err() != nil {
				return false, state
			}
			op := input.(sectionOp)
			switch {
			case !op.blind && op.base != state.(int64):
				return op.unknown, state // unknown: linearized without effect
			case op.writes:
				return true, op.value
			default:
				return true, state
			}
		},
		Equal: func(a, b any) bool { return a.(int64) == b.(int64) },
		Hash:  func(s any) uint64 { return uint64(s.(int64)) },
	}
}

// linearizableData asks Porcupine whether what the clients were told of a register can
// have come from one register, section by section, one lock at a time.
func (in *Input) linearizableData(register string) (answer Verdict, why string) {
	until := time.Now().Add(in.Limit / 2)
	answer = Pass
	for _, lock := range in.Locks {
		ops := in.sections(register, lock)
		left := time.Until(until)
		if len(ops) > maxPieceOps || left <= 0 {
			answer, why = Unknown, fmt.Sprintf("%d sections are too many for Porcupine", len(ops))
			continue
		}
		switch porcupine.CheckOperationsTimeout(sectionModel(in.Run.Registers[register]), ops, left) {
		case porcupine.Illegal:
			return Fail, ""
		case porcupine.Unknown:
			answer, why = Unknown, "Porcupine ran out of time"
		}
	}
	return answer, why
}
