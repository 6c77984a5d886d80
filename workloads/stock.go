package workloads

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
)

// Registers of the workload stock.
const (
	RegStock  = "stock"
	RegLedger = "ledger" // how often the stock was changed
)

func stockSpec() Spec {
	return Spec{
		Name: "stock", Doc: "each critical section sells the last piece in stock, or adds a piece if the stock is empty, and then " +
			"increments a count of changes (the ledger); so the stock returns to earlier values (the ABA problem)",
		Params: Params(),
		Registers: func(string, bool) []Register {
			return []Register{{Name: RegStock}, {Name: RegLedger}}
		},
		New: func(s Settings) Workload { return &stock{s} },
	}
}

// stock changes two values that belong together.
//
//	acquire  read stock, read ledger  ...hold...  write stock, write ledger  release
type stock struct{ Settings }

// Section sells or restocks.
func (w *stock) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	return w.Run(ctx, c, t, func(h *Hold) error { return w.change(ctx, h, t) })
}

func (w *stock) change(ctx context.Context, h *Hold, t Turn) error {
	if !h.Valid() {
		return nil
	}
	h.Reach(ctx, history.AtBeforeRead)
	pieces, known, err := h.Read(context.WithoutCancel(ctx), RegStock)
	if err != nil || !known {
		return err
	}
	changes, known, err := h.Read(context.WithoutCancel(ctx), RegLedger)
	if err != nil || !known {
		return err
	}
	if err := w.Keep(ctx, h, t); err != nil || !h.Valid() {
		return err
	}
	h.Reach(ctx, history.AtBeforeWrite)
	next := pieces - 1
	if pieces == 0 {
		next = 1
	}
	known, err = h.Write(context.WithoutCancel(ctx), RegStock, pieces, next)
	if err != nil || (!known && !h.Valid()) {
		return err
	}
	_, err = h.Write(context.WithoutCancel(ctx), RegLedger, changes, changes+1)
	return err
}
