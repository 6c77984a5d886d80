package workloads

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
)

func reentrantSpec() Spec {
	return Spec{
		Name: "reentrant", Doc: "inside its critical section the client acquires the lock a second time, as the same owner, and " +
			"releases this second grant before the critical section ends; the workload uses no data",
		Params: Params(), Model: history.ModelReentrant, Tries: true,
		New: func(s Settings) Workload { return &reentrant{s} },
	}
}

// reentrant enters again what it holds. A lock that is not reentrant refuses; one that is, counts: the
// inner release frees nothing.
//
//	acquire  [try again]  [release the inner one]  ...hold...  work  release
type reentrant struct{ Settings }

// Section holds a lock, and tries for it again inside. The inner one is a try: who waits for himself
// waits for ever.
func (w *reentrant) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	return w.Run(ctx, c, t, func(h *Hold) error {
		if !t.Last {
			inner, err := c.Acquire(ctx, Ask{Lock: h.Lock, Try: true, Within: h})
			if err != nil {
				return err
			}
			if inner != nil {
				if err := inner.Release(ctx); err != nil {
					return err
				}
			}
		}
		w.Stay(ctx, t)
		if !h.Valid() {
			return nil
		}
		return h.Work(ctx, nil, nil)
	})
}
