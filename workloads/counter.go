package workloads

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/register"
)

// Specs returns the workloads.
func Specs() []Spec {
	return []Spec{
		{
			Name: "counter", Doc: "in each critical section, a client acquires the lock, reads a counter, waits, writes the counter " +
				"plus one, and releases the lock",
			Registers: SideBySide, Fenced: true,
			Calls: func(s Settings) []string { return s.Calls.Needs() },
			Params: append(slices.Concat(Params(), CallParams()), Param{
				Name: paramFence, Default: string(register.Strict),
				Doc: "which requests the fence accepts if their fencing token equals the highest token so far (strict: only requests of " +
					"the grant that first used this token; at-least: requests of any grant)",
				Choices: []string{string(register.Strict), string(register.AtLeast)},
			}),
			New: func(s Settings) Workload { return &counter{s} },
		},
		{
			Name: "mutex", Doc: "in each critical section, a client acquires the lock, waits, records that it used the lock, and " +
				"releases the lock; the workload uses no data",
			Calls:  func(s Settings) []string { return s.Calls.Needs() },
			Params: slices.Concat(Params(), CallParams()), New: func(s Settings) Workload { return &mutex{s} },
		},
		rwlockSpec(), reentrantSpec(), trySpec(), twoLocksSpec(), jobSpec(), handoffSpec(), stockSpec(),
	}
}

// counter updates every register of the run under one grant, in the same breath: one
// schedule shows what is lost without a fence and what the fence saves.
//
//	acquire  [read plain, read fenced]  ...hold...  [write plain, write fenced]  release
type counter struct{ Settings }

// Section increments the counters of one lock.
func (w *counter) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	return w.Run(ctx, c, t, func(h *Hold) error { return w.update(ctx, c, h, t) })
}

func (w *counter) update(ctx context.Context, c *Client, h *Hold, t Turn) error {
	if !h.Valid() {
		return nil
	}
	h.Reach(ctx, history.AtBeforeRead)
	values := map[string]int64{}
	for _, reg := range c.Registers() {
		v, known, err := h.Read(context.WithoutCancel(ctx), reg)
		if err != nil {
			return err
		}
		if known {
			values[reg] = v
		}
	}
	if err := w.Keep(ctx, h, t); err != nil {
		return err
	}
	if w.Calls.Ask {
		h.Ask(ctx)
	}
	if !h.Valid() {
		return nil
	}
	h.Reach(ctx, history.AtBeforeWrite)
	for _, reg := range c.Registers() {
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
	return w.Run(ctx, c, t, func(h *Hold) error {
		if h.Valid() {
			if err := w.Keep(ctx, h, t); err != nil {
				return err
			}
		}
		if w.Calls.Ask {
			h.Ask(ctx)
		}
		if !h.Valid() {
			return nil
		}
		h.Reach(ctx, history.AtBeforeWrite)
		return h.Work(ctx, nil, nil)
	})
}

// Run is the section that most workloads share: acquire one of the locks, act as the holder, release, pause. act must
// return an error only if the client cannot go on.
func (s *Settings) Run(ctx context.Context, c *Client, t Turn, act func(*Hold) error) (granted bool, err error) {
	return s.section(ctx, c, s.ask(t), t, act)
}

// ask is for one of the locks. The last section always waits.
func (s *Settings) ask(t Turn) Ask {
	try := s.Rand.Float64() < s.Try && !t.Last
	return Ask{Lock: s.Lock(t), Try: try}
}

// section is Run for a request of its own.
func (s *Settings) section(ctx context.Context, c *Client, ask Ask, t Turn, act func(*Hold) error) (granted bool, err error) {
	h, err := s.begin(ctx, c, ask, t)
	if h == nil || err != nil {
		return false, err
	}
	stop := func() {}
	if s.Calls.Extend == ExtendBackground {
		stop = h.inBackground(ctx)
	}
	inner, err := s.second(ctx, c, h, t)
	if err == nil {
		err = act(h)
	}
	stop()
	if inner != nil {
		err = errors.Join(err, inner.Release(ctx))
	}
	if err != nil {
		return true, err
	}
	if err := s.giveBack(ctx, h, t); err != nil {
		return true, err
	}
	s.Pause(ctx, t)
	return true, nil
}

// Begin acquires one of the locks; it returns nil if the lock was not granted.
func (s *Settings) Begin(ctx context.Context, c *Client, t Turn) (*Hold, error) {
	return s.begin(ctx, c, s.ask(t), t)
}

// Stay waits as long as a section does between read and write; a last section does not linger.
func (s *Settings) Stay(ctx context.Context, t Turn) {
	if !t.Last {
		pause(ctx, s.upTo(s.Hold))
	}
}
