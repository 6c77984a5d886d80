package chain

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker/internal/lin"
)

// Section is what one grant did to a register, as one atomic step: it read base and left
// value there.
type Section struct {
	Base, Value int64
	Call, Ret   int64 // closed; Ret is Forever where Unknown
	Reads       bool  // else it set value, whatever was there
	Writes      bool  // else it left what it had read
	Unknown     bool  // what it wrote may have had no effect
}

// leaves is the value of a register after a section that found base there.
func (s Section) leaves(found int64) int64 {
	if s.Writes {
		return s.Value
	}
	return found
}

// Search asks Porcupine whether sections can have followed each other on a register
// that holds start at first. An unknown one that finds another base has had no effect.
func Search(start int64, sections []Section, within time.Duration) lin.Answer {
	in := make([]porcupine.Operation, len(sections))
	for i := range sections {
		in[i] = porcupine.Operation{Input: &sections[i], Call: sections[i].Call, Return: sections[i].Ret}
	}
	model := porcupine.Model{
		Init: func() any { return start },
		StepContext: func(ctx context.Context, state, input, _ any) (bool, any) {
			s, found := input.(*Section), state.(int64)
			switch {
			case ctx.Err() != nil:
				return false, state
			case s.Reads && s.Base != found:
				return s.Unknown, state
			default:
				return true, s.leaves(found)
			}
		},
		Equal: func(a, b any) bool { return a.(int64) == b.(int64) },
		Hash:  func(s any) uint64 { return uint64(s.(int64)) },
	}
	switch porcupine.CheckOperationsTimeout(model, in, within) {
	case porcupine.Ok:
		return lin.Legal
	case porcupine.Illegal:
		return lin.Illegal
	}
	return lin.Undecided
}

// Replay carries out sections in the order that is claimed for them and says what is
// wrong with it, as lin.Replay does. Those of unknown outcome may be missing.
func Replay(start int64, sections []Section, order []int) error {
	done := make([]bool, len(sections))
	latest, state := int64(math.MinInt64), start
	for _, i := range order {
		if i < 0 || i >= len(sections) || done[i] {
			return fmt.Errorf("the order of critical sections contains section %d twice, or the run has no section with this number", i)
		}
		s := sections[i]
		if done[i] = true; s.Ret < latest {
			return fmt.Errorf("the order of critical sections is wrong: section %d ended before another section began, but is placed "+
				"after that section", i)
		}
		if latest = max(latest, s.Call); s.Reads && s.Base != state {
			return fmt.Errorf("in the order of critical sections, section %d would read %d, but in the run it read %d", i, state, s.Base)
		}
		state = s.leaves(state)
	}
	for i, s := range sections {
		if !done[i] && !s.Unknown {
			return fmt.Errorf("section %d is missing in the order of critical sections", i)
		}
	}
	return nil
}
