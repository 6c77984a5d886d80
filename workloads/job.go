package workloads

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/register"
)

// BoundPeriod is the name of the length of a period, in history.Run.Bounds (ns).
const BoundPeriod = "period"

// PointSent is the point where a client has done its job and no other party knows of it yet.
const PointSent = "job-done"

const (
	paramPeriod = "period"
	paramOffset = "offset"
	paramMark   = "mark"
)

// Values of mark.
const (
	markNone   = "no"
	markAfter  = "after"
	markBefore = "before"
)

func jobSpec() Spec {
	return Spec{
		Name: "job", Doc: "a job must be done once in each period: when a period begins according to a client's own clock, the " +
			"client tries to acquire the lock, and does the job if it gets the lock",
		Params: []Param{
			{Name: paramPeriod, Default: "1ttl", Doc: "length of a period; the clients must do one job in each period"},
			{Name: paramOffset, Default: "0.1ttl", Doc: "how far the clock of the last client is behind the clock of the first client; " +
				"the clocks of the other clients are in between"},
			{Name: paramMark, Default: markNone, Doc: "when the client records that the job of a period is done, so that all clients " +
				"skip the period (no: never; after: after the job; before: before the " +
				"job)", Choices: []string{markNone, markAfter, markBefore}},
		},
		Points: []history.Point{{Name: PointSent, Doc: "the client has done the job of a period, but has not yet recorded that " +
			"the job is done"}},
		Registers: func(string, bool) []Register { return []Register{{Name: register.Plain}} },
		Tries:     true,
		Check: func(s Settings) error {
			period, err := s.Values.Length(paramPeriod, s.TTL)
			if err == nil && period < 10*time.Millisecond {
				err = errors.New("the period of the jobs is too short: set period= to 10ms or more")
			}
			_, offErr := s.Values.Length(paramOffset, s.TTL)
			return errors.Join(err, offErr)
		},
		Bounds: func(s Settings) map[string]time.Duration {
			period, _ := s.Values.Length(paramPeriod, s.TTL) // was checked
			return map[string]time.Duration{BoundPeriod: period}
		},
		New: func(s Settings) Workload {
			period, _ := s.Values.Length(paramPeriod, s.TTL) // both were checked
			offset, _ := s.Values.Length(paramOffset, s.TTL)
			return &job{Settings: s, period: period, offset: offset, mark: s.Values[paramMark]}
		},
	}
}

// JobDone is the value of the work event of a job.
type JobDone struct {
	Period int64 `json:"period"` // by the clock of its client
}

// job is done once in each period by those who agree who does it.
//
//	try  [read the last period]  work {period}  [write the period]  release
type job struct {
	Settings
	period, offset time.Duration
	mark           string
	last           int64 // period that this client has seen to
}

// Section waits for the next period, and tries once. The last one does no job.
func (w *job) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	if t.Last {
		return w.Run(ctx, c, t, func(*Hold) error { return nil })
	}
	period, begun := w.await(ctx, c)
	if !begun {
		return false, nil
	}
	h, err := c.Acquire(ctx, Ask{Lock: w.Lock(t), Try: true})
	if h == nil || err != nil {
		return false, err
	}
	if err := w.do(ctx, h, period); err != nil {
		return true, err
	}
	return true, h.Release(ctx)
}

// await waits until a new period has begun by the client's own clock; not begun: ctx has ended.
func (w *job) await(ctx context.Context, c *Client) (period int64, begun bool) {
	behind := time.Duration(0)
	if w.Clients > 1 {
		behind = w.offset * time.Duration((c.cfg.Index-1)%int64(w.Clients)) / time.Duration(w.Clients-1)
	}
	for {
		now := time.Duration(c.cfg.Recorder.Clock().Now()) - behind
		period := int64(now / w.period)
		if period > w.last && now > 0 {
			w.last = period
			return period, true
		}
		pause(ctx, time.Duration(w.last+1)*w.period-now)
		if ctx.Err() != nil {
			return 0, false
		}
	}
}

func (w *job) do(ctx context.Context, h *Hold, period int64) error {
	var last int64
	if w.mark != markNone {
		v, known, err := h.Read(context.WithoutCancel(ctx), register.Plain)
		if err != nil || !known || v >= period {
			return err
		}
		last = v
	}
	if w.mark == markBefore {
		if _, err := h.Write(context.WithoutCancel(ctx), register.Plain, last, period); err != nil || !h.Valid() {
			return err
		}
	}
	if err := h.Work(ctx, JobDone{period}, nil); err != nil {
		return err
	}
	h.Reach(ctx, PointSent)
	if w.mark != markAfter {
		return nil
	}
	_, err := h.Write(context.WithoutCancel(ctx), register.Plain, last, period)
	return err
}
