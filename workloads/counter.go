package workloads

import (
	"context"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/workloads/register"
)

// Specs are the workloads for the catalogue.
func Specs() []Spec {
	return []Spec{
		{
			Name: "counter", Doc: "acquire, read a counter, stay, write it back plus one, release", Resource: true,
			Params: append(Params(), catalog.Param{
				Name: "fence", Default: string(register.Strict),
				Doc: "strict: a token that is equal to the highest counts only from the grant that brought it; at-least: from anybody",
			}),
			New: func(s Settings) Workload { return &counter{s} },
		},
		{
			Name: "mutex", Doc: "acquire, stay, act as the holder, release; touches no data",
			Params: Params(), New: func(s Settings) Workload { return &mutex{s} },
		},
	}
}

// counter updates every register of the run under one grant, in the same breath: one
// schedule shows what is lost without a fence and what the fence saves.
//
//	acquire  [read plain, read fenced]  ...hold...  [write plain, write fenced]  release
type counter struct{ Settings }

// Section increments the counters of one lock.
func (w *counter) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	return w.section(ctx, c, t, func(h *Hold) error { return w.update(ctx, c, h, t) })
}

func (w *counter) update(ctx context.Context, c *Client, h *Hold, t Turn) error {
	if !h.Valid() {
		return nil
	}
	h.reach(ctx, BeforeRead)
	values := map[string]int64{}
	for _, reg := range c.cfg.Registers {
		v, known, err := h.Read(context.WithoutCancel(ctx), reg)
		if err != nil {
			return err
		}
		if known {
			values[reg] = v
		}
	}
	w.stay(ctx, t)
	if !h.Valid() {
		return nil
	}
	h.reach(ctx, BeforeWrite)
	for _, reg := range c.cfg.Registers {
		v, known := values[reg]
		if !known {
			continue
		}
		answered, err := h.Write(context.WithoutCancel(ctx), reg, v, v+1)
		if err != nil {
			return err
		}
		if !answered && !h.Valid() { // it took its time: the same breath is over
			return nil
		}
	}
	return nil
}

// mutex only holds the lock.
type mutex struct{ Settings }

// Section holds one lock for a while.
func (w *mutex) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	return w.section(ctx, c, t, func(h *Hold) error {
		if h.Valid() {
			w.stay(ctx, t)
		}
		if !h.Valid() {
			return nil
		}
		h.reach(ctx, BeforeWrite)
		return h.Work()
	})
}

// section is what all workloads share: acquire, act as the holder, release, think.
func (s *Settings) section(ctx context.Context, c *Client, t Turn, act func(*Hold) error) (granted bool, err error) {
	h, err := s.begin(ctx, c, t)
	if h == nil || err != nil {
		return false, err
	}
	if err := act(h); err != nil {
		return true, err
	}
	if err := h.Release(ctx); err != nil {
		return true, err
	}
	s.think(ctx, t)
	return true, nil
}

// begin acquires one of the locks; nil where it was not granted. The last section always
// waits.
func (s *Settings) begin(ctx context.Context, c *Client, t Turn) (*Hold, error) {
	try := s.Rand.Float64() < s.Try && !t.Last
	h, err := c.Acquire(ctx, s.lock(t), try)
	if h == nil && err == nil {
		s.think(ctx, t)
	}
	return h, err
}

// stay is the time between read and write.
func (s *Settings) stay(ctx context.Context, t Turn) {
	if !t.Last {
		pause(ctx, s.upTo(s.Hold))
	}
}
