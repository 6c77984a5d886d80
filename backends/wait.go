package backends

import (
	"context"
	"errors"
	"time"
)

// Poll is the waiting acquire of locks that can only be tried: it tries, and waits a
// random time up to env.Retry before the next try. A refusal and a request that never
// left are tried again; the first try of unknown outcome ends it, because its lock may
// be ours.
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

// ParamWait is the name of the parameter by which a lock that polls waits.
const ParamWait = "wait"

// WaitFixed is its value for a pause that is always the same.
const WaitFixed = "fixed"

// pause is how long a client waits before it tries again.
func (e Env) pause() time.Duration {
	if e.Values[ParamWait] == WaitFixed {
		return e.Retry
	}
	return e.Jitter(e.Retry)
}

// Jitter is a random duration in (limit/4, limit], so that clients do not retry in step.
func (e Env) Jitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	least := limit / 4
	return least + time.Duration(e.Rand.Int64N(int64(limit-least))) + 1
}
