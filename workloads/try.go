package workloads

import (
	"context"
	"time"
)

const paramBound = "bound"

// BoundTry is the name of the time limit of each try, in history.Run.Bounds (ns).
const BoundTry = "try"

func trySpec() Spec {
	return Spec{
		Name: "try", Doc: "clients try to acquire the lock without waiting; each try must return within a time limit, even under " +
			"faults; the workload uses no data",
		Params: []Param{
			{Name: "hold", Default: "0.1ttl", Doc: "longest time that a client stays in its critical section"},
			{Name: "think", Default: "0.05ttl", Doc: "longest pause between two critical sections of a client"},
			{Name: paramBound, Default: "2ttl", Doc: "time limit of each attempt to acquire the lock without waiting (a try)"},
		},
		Tries: true,
		Check: func(s Settings) error {
			_, err := s.Values.Length(paramBound, s.TTL)
			return err
		},
		Bounds: func(s Settings) map[string]time.Duration {
			bound, _ := s.Values.Length(paramBound, s.TTL) // was checked
			return map[string]time.Duration{BoundTry: bound}
		},
		New: func(s Settings) Workload {
			s.Try = 1
			return &tries{mutex{s}}
		},
	}
}

// tries never waits, also in its last section: then it tries until it is granted.
type tries struct{ mutex }

// Section is one try, and a section where it was granted.
func (w *tries) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	h, err := c.Acquire(ctx, Ask{Lock: w.Lock(t), Try: true})
	if h == nil || err != nil {
		if err == nil {
			w.Pause(ctx, Turn{})
		}
		return false, err
	}
	w.Stay(ctx, t)
	if h.Valid() {
		if err := h.Work(ctx, nil, nil); err != nil {
			return true, err
		}
	}
	if err := h.Release(ctx); err != nil {
		return true, err
	}
	w.Pause(ctx, t)
	return true, nil
}
