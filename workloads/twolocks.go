package workloads

import (
	"context"
	"errors"

	"github.com/lockstorm/lockstorm/history"
)

func twoLocksSpec() Spec {
	return Spec{
		Name: "two-locks", Doc: "each critical section acquires two locks in a random order and works while it holds both (with " +
			"--locks 2), so clients can deadlock",
		Params: Params(), Check: func(s Settings) error {
			if len(s.Locks) == 1 {
				return errors.New("this workload needs two locks: use --locks 2")
			}
			return nil
		},
		New: func(s Settings) Workload { return &twoLocks{s} },
	}
}

// twoLocks takes its locks in either order, so that two clients come to wait for each other:
//
//	c1  acquire L1  ...hold...  acquire L2 (c2 has it)
//	c2  acquire L2  ...hold...  acquire L1 (c1 has it)
type twoLocks struct{ Settings }

// Section takes two locks; a last one takes the one that it names.
func (w *twoLocks) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	if t.Last {
		return w.Run(ctx, c, t, func(h *Hold) error { return h.Work(ctx, nil, nil) })
	}
	first := w.Rand.IntN(len(w.Locks))
	second := (first + 1 + w.Rand.IntN(len(w.Locks)-1)) % len(w.Locks)
	h, err := c.Acquire(ctx, Ask{Lock: w.Locks[first]})
	if h == nil || err != nil {
		if err == nil {
			w.Pause(ctx, t)
		}
		return false, err
	}
	w.Stay(ctx, t)
	inner, err := c.Acquire(ctx, Ask{Lock: w.Locks[second]})
	if err != nil {
		return true, err
	}
	for _, held := range []*Hold{h, inner} {
		if held == nil || inner == nil || !held.Valid() {
			continue
		}
		held.Reach(ctx, history.AtBeforeWrite)
		if err := held.Work(ctx, nil, nil); err != nil {
			return true, err
		}
	}
	for _, held := range []*Hold{inner, h} {
		if held == nil {
			continue
		}
		if err := held.Release(ctx); err != nil {
			return true, err
		}
	}
	w.Pause(ctx, t)
	return true, nil
}
