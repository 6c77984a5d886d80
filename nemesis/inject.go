package nemesis

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// active is an injected fault that must be healed.
type active struct {
	event  history.Line
	fault  history.Fault
	effect Effect
	proven bool          // its effect
	ending bool          // it is being healed
	over   chan struct{} // closed when it begins to be healed
	once   sync.Once
}

// errNoProof is what an effect without a proof is worth.
var errNoProof = errors.New("the fault returned no proof that it took effect")

// PanicError is a bug of a fault: the lock is not judged.
type PanicError struct {
	Fault string
	Value any
	Stack []byte
}

// Error returns the message of the panic, and its place.
func (e *PanicError) Error() string {
	return fmt.Sprintf("fault %s panicked: %v\n%s", e.Fault, e.Value, e.Stack)
}

// guarded turns a panic of a fault into an error: the run ends, and heals what it can.
func guarded(fault string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{fault, p, debug.Stack()}
		}
	}()
	return do()
}

// inject records, hurts, and records the proof or the failure.
func (r *Runner) inject(ctx context.Context, spec Spec, t Target, f history.Fault) (*active, bool) {
	r.note(history.Line{Type: history.Invoke, F: history.FFault, Value: history.ValueOf(f)})
	limited, cancel := r.within(context.WithoutCancel(ctx), injectLimit)
	defer cancel()
	var effect Effect
	err := guarded(spec.Name, func() (err error) {
		effect, err = spec.Fault.Inject(limited, r.World, t)
		return err
	})
	if errors.As(err, new(*PanicError)) {
		r.fail(err)
	}
	if err == nil && effect.Proof == "" {
		err = errNoProof
	}
	f.Began = effect.Began
	a := &active{
		event: history.Line{F: history.FHeal, Value: history.ValueOf(f)}, fault: f, effect: effect,
		over: make(chan struct{}),
	}
	if effect.Heal != nil {
		r.mu.Lock()
		r.active = append(r.active, a)
		r.mu.Unlock()
	}
	if err != nil {
		r.note(history.Line{
			Type: history.Fail, F: history.FFault, Value: history.ValueOf(f), Error: history.ErrOther,
			Message: err.Error(),
		})
		if effect.Heal != nil {
			r.heal(context.WithoutCancel(ctx), a)
		}
		return a, false
	}
	f.Proof, f.Vain = effect.Proof, effect.Vain
	r.mu.Lock()
	a.proven = true
	r.mu.Unlock()
	r.note(history.Line{Type: history.OK, F: history.FFault, Value: history.ValueOf(f)})
	r.say(f.Fault + ": " + f.Proof)
	return a, true
}

// heal undoes a fault once, under a watchdog, and records how it went.
func (r *Runner) heal(ctx context.Context, a *active) {
	a.once.Do(func() {
		r.mu.Lock()
		a.ending = true
		r.mu.Unlock()
		close(a.over)
		e, f := a.event, a.fault
		e.Type = history.Invoke
		r.note(e)
		limited, cancel := r.within(ctx, healLimit)
		defer cancel()
		var proof string
		err := guarded(f.Fault, func() (err error) {
			proof, err = a.effect.Heal(limited)
			return err
		})
		e.Type, e.Message = history.OK, proof
		if err != nil {
			e.Type, e.Error, e.Message = history.Info, history.ErrOther, err.Error()
			r.fail(fmt.Errorf("lockstorm could not undo the fault %s: %w", f.Fault, err))
		}
		r.note(e)
		r.say("end of the fault " + f.Fault + ": " + e.Message)
		r.mu.Lock()
		r.active = slices.DeleteFunc(r.active, func(x *active) bool { return x == a })
		r.mu.Unlock()
	})
}

// miss records a step that hurt nobody.
func (r *Runner) miss(f history.Fault, why error) {
	r.note(history.Line{
		Type: history.Fail, F: history.FFault, Value: history.ValueOf(f), Error: history.ErrNotSent,
		Message: why.Error(),
	})
}
