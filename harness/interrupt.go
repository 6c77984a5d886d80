package harness

import (
	"context"
	"fmt"
	"time"
)

// patience is how long judging may go on after an interruption, so that it can end if it is nearly done.
const patience = 700 * time.Millisecond

// Interruptible calls do, which cannot be stopped half way, such as judging a long record, and stops waiting for it
// soon after ctx has ended. Then it returns an interruption as an [Error] that names what, and do goes on until the
// process ends.
func Interruptible[T any](ctx context.Context, what string, do func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := do()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case a := <-done:
		return a.v, a.err
	case <-late.C:
		var none T
		return none, &Error{Code: ExitInterrupted, Err: fmt.Errorf("interrupted while judging %s. The record is kept: to judge it, "+
			"run `lockstorm check` on this directory", what)}
	}
}
