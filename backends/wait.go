package backends

import (
	"context"
	"errors"
	"time"
)

// Poll is the waiting acquire of locks that can only be tried. It tries, and waits a random time up to env.Retry
// before the next try. It tries again after a refusal, and after a request that was never sent; it returns after the
// first try of unknown outcome, because that may have taken the lock.
func Poll(ctx context.Context, env Env, req Request, try func(context.Context, Request) (Lease, error)) (Lease, error) {
	waits := req.Waiting(ctx)
	for {
		lease, err := try(context.WithoutCancel(ctx), req)
		if err == nil || (!errors.Is(err, ErrBusy) && !errors.Is(err, ErrNotSent)) {
			return lease, err
		}
		if errors.Is(err, ErrBusy) {
			waits()
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(env.pause()):
		}
	}
}

// ParamWait is the name of the parameter that says how a polling lock waits.
const ParamWait = "wait"

// WaitFixed is the value of ParamWait for a constant pause.
const WaitFixed = "fixed"

// pause is how long a client waits before it tries again.
func (e Env) pause() time.Duration {
	if e.Values[ParamWait] == WaitFixed {
		return e.Retry
	}
	return e.Jitter(e.Retry)
}

// Jitter returns a random duration in (limit/4, limit], so that clients do not retry in step.
func (e Env) Jitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	least := limit / 4
	return least + time.Duration(e.Rand.Int64N(int64(limit-least))) + 1
}
