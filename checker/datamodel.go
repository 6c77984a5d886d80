package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/history"
)

// sectionOp is a section as an atomic read-modify-write of one register, or a section
// that only read.
type sectionOp struct {
	base, value int64
	writes      bool
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
			case op.base != state.(int64):
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

// sections makes one operation of each grant's read and write. Refused requests had no
// effect and are left out; an unknown write may have one at any later time.
func (in *Input) sections(register, lock string) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range in.ByLock[lock] {
		var op sectionOp
		var read, write *history.Call
		for _, u := range g.Uses {
			switch {
			case u.Invoke.Register != register || u.Outcome() == history.Fail:
			case u.Invoke.F == history.FRead && u.Outcome() == history.OK:
				read, op.base = u, u.Return.Value.Base.V
			case u.Invoke.F == history.FWrite:
				write, op.writes = u, true
				op.value, op.unknown = u.Invoke.Value.New.V, u.Outcome() == history.Info
			}
		}
		if read == nil {
			continue
		}
		end := read.End()
		if write != nil {
			end = write.End()
		}
		ops = append(ops, porcupine.Operation{Input: op, Call: read.Start(), Return: end})
	}
	return ops
}
