package nemesis

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// stayPart of its lease is how long the client of a tied fault of servers stays at most.
const stayPart = 0.9

// LookEvery is how often a fault checks for its effect.
const LookEvery = 5 * time.Millisecond

// Wait waits for d; it returns false if ctx ended first.
func Wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Until calls there every LookEvery until it returns true or an error, or ctx ends. It returns the error of ctx as it
// is: the caller knows better what to say.
func Until(ctx context.Context, there func() (bool, error)) error {
	for {
		ok, err := there()
		if err != nil || ok {
			return err
		}
		if !Wait(ctx, LookEvery) {
			return ctx.Err()
		}
	}
}

// LeaseLeft returns how long a client at a point may stay there: until 0.9 of its lease is over. Without a lease it
// is a time to live.
func LeaseLeft(w World, h *Hit) time.Duration {
	if !h.Deadline.Set {
		return w.TTL()
	}
	left := time.Duration(h.Deadline.V - w.Now())
	return max(0, left-time.Duration((1-stayPart)*float64(w.TTL())))
}

// Stay keeps a client at its point until another one was granted its lock after since, at most for the limit, and
// lets it go. The history says whether the grant came.
func Stay(ctx context.Context, w World, h *Hit, since int64, limit time.Duration) {
	defer h.Go()
	waiting, cancel := context.WithTimeout(ctx, max(limit, 0))
	defer cancel()
	_ = w.Granted(waiting, h.Lock, h.Client.Name(), since) // see above
}

// bound lets the client of a tied fault go when 0.9 of its lease is over, also while the
// fault is still being injected: a client that is kept longer acts late because of us. It does so no more once stands
// has returned true: the client is still there. What stops a client must ask, or it strikes somewhere else; it strikes at
// once, so a client that came late is kept for that moment.
func (r *Runner) bound(ctx context.Context, hit *Hit, stops bool) (stands func() bool) {
	if hit == nil || !hit.Deadline.Set {
		return func() bool { return true }
	}
	var decided atomic.Bool
	left := LeaseLeft(r.World, hit)
	if stops {
		left = max(left, r.World.TTL()/10)
	}
	r.stays.Go(func() {
		if Wait(ctx, left); decided.CompareAndSwap(false, true) {
			hit.Go()
		}
	})
	return func() bool { return decided.CompareAndSwap(false, true) }
}

// release lets the client of a tied fault go, who may still be kept there for a while: for a
// fault of servers, whose effect shows in what another client is granted.
func (r *Runner) release(ctx context.Context, hit *Hit, st Step, effective bool) {
	if hit == nil {
		return
	}
	if st.Stay == 0 || !effective {
		hit.Go()
		return
	}
	limit := time.Duration(st.Stay)
	if hit.Deadline.Set {
		limit = min(limit, LeaseLeft(r.World, hit))
	}
	since := r.World.Now()
	r.stays.Go(func() { Stay(ctx, r.World, hit, since, limit) })
}

// holder waits until the holder of the lock that a client waits for is about to write, and keeps it there; nil: nobody came there
// within a time to live. Its lease is renewed meanwhile, so it may stay for longer than that.
func (r *Runner) holder(ctx context.Context, waits *Hit, struck []Client) *Hit {
	soon, cancel := context.WithTimeout(ctx, r.World.TTL())
	defer cancel()
	var others []string
	for _, c := range r.World.Clients() {
		if !slices.ContainsFunc(struck, func(s Client) bool { return s.Name() == c.Name() }) {
			others = append(others, c.Name())
		}
	}
	for len(others) > 0 {
		h, err := r.World.Arm(soon, Arm{Point: history.AtBeforeWrite, Nth: 1, Clients: others})
		if err != nil {
			return nil
		}
		if h.Lock == waits.Lock {
			h.Deadline = history.Opt{}
			return h
		}
		h.Go()
	}
	return nil
}
