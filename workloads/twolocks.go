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
	return w.section(ctx, c, Ask{Lock: w.Locks[first]}, t, func(h *Hold) error {
		w.Stay(ctx, t)
		inner, err := c.Acquire(ctx, Ask{Lock: w.Locks[second]})
		if inner == nil || err != nil {
			return err
		}
		for _, held := range []*Hold{h, inner} {
			if held.Valid() {
				held.Reach(ctx, history.AtBeforeWrite)
				if err := held.Work(ctx, nil, nil); err != nil {
					return err
				}
			}
		}
		return inner.Release(ctx)
	})
}
