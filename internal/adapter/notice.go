package adapter

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// noticed takes what the adapter tells unasked. It is called by the reader, which it must not keep: what may block goes on beside
// it.
func (l *locker) noticed(n line, at int64) error {
	switch n.Notice {
	case noteRenewed, noteGaveUp:
		return l.finished(n, at)
	}
	if n.Lease != "" && n.Hold == 0 {
		return l.ofSession(n, at)
	}
	l.mu.Lock()
	h := l.holds[n.Hold]
	l.mu.Unlock()
	if h == nil {
		return breach("the adapter sent %s for attempt %d, which nobody made",
			n.Notice, n.Hold)
	}
	if n.Notice == noteLost {
		h.req.Hooks.Lost(h.leaseName(), n.Message)
		return nil
	}
	if n.N <= 0 {
		return breach("the adapter sent %s without \"n\"", n.Notice)
	}
	switch n.Notice {
	case notePoint:
		if !l.hasPoint(n.Name) {
			return breach("the adapter reached the point %q: list it in the description", n.Name)
		}
		go func() {
			h.req.Reach(backends.WithSource(context.Background(), n.Source), n.Name)
			l.goOn(n.N)
		}()
		return nil
	case noteRenewing:
		return l.starts(n, func() (func(line, int64) error, error) { return h.renewing() })
	case noteGivingUp:
		return l.starts(n, func() (func(line, int64) error, error) { return h.givingUp(n.Message) })
	}
	return breach("the adapter sent an unknown notice %q", n.Notice)
}

func (l *locker) hasPoint(name string) bool {
	return slices.ContainsFunc(l.about.Points, func(p history.Point) bool { return p.Name == name })
}

// ofSession handles a notice about a lease that several grants share.
func (l *locker) ofSession(n line, at int64) error {
	l.mu.Lock()
	_, known := l.sessions[n.Lease]
	l.mu.Unlock()
	switch {
	case !l.about.Model.Session:
		return breach("the adapter sent %s for lease %q: its \"model\" must say \"session\"", n.Notice, n.Lease)
	case known && n.Notice == noteOpened:
		return breach("the adapter sent %s twice for lease %q", n.Notice, n.Lease)
	case !known && n.Notice != noteOpened:
		return breach("the adapter sent %s for lease %q before \"opened\"", n.Notice,
			n.Lease)
	case n.Notice == noteOpened:
		r, err := l.lived(n, l.env.TTL, 0, at)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.sessions[n.Lease] = r
		l.mu.Unlock()
		return l.env.Session.Opened(n.Lease, r)
	case n.Notice == noteLost:
		l.env.Session.Lost(n.Lease, n.Message)
		return nil
	case n.Notice == noteRenewing && n.N > 0:
		return l.starts(n, func() (func(line, int64) error, error) { return l.renewingSession(n.Lease) })
	}
	return breach("the adapter sent %q for lease %q: an unknown notice, or one without \"n\" (1 or more)", n.Notice, n.Lease)
}

func (l *locker) renewingSession(lease string) (func(line, int64) error, error) {
	done, err := l.env.Session.Renewing(lease)
	l.mu.Lock()
	ttl := l.sessions[lease].TTL
	l.mu.Unlock()
	return l.renewal(ttl, func(r backends.Renewal, err error) {
		l.mu.Lock()
		if err == nil && r.Deadline > l.sessions[lease].Deadline {
			l.sessions[lease] = r
		}
		l.mu.Unlock()
		done(r, err)
	}), err
}

// starts puts a renewal, or a release that nobody asked for, on record, and lets it go. One that could not be recorded never
// goes.
func (l *locker) starts(n line, begin func() (func(line, int64) error, error)) error {
	l.mu.Lock()
	_, twice := l.asked[n.N]
	l.mu.Unlock()
	if twice {
		return breach("the adapter used n=%d in two notices", n.N)
	}
	end, err := begin()
	if err != nil {
		return nil //nolint:nilerr // the client is stopping
	}
	l.mu.Lock()
	l.asked[n.N] = end
	l.mu.Unlock()
	go l.goOn(n.N)
	return nil
}

func (h *hold) givingUp(why string) (func(line, int64) error, error) {
	done, err := h.req.Hooks.GivingUp(h.leaseName(), why)
	return func(end line, _ int64) error {
		done(failed(end))
		return nil
	}, err
}

func (h *hold) renewing() (func(line, int64) error, error) {
	done, err := h.req.Hooks.Renewing(h.leaseName())
	return h.l.renewal(h.req.TTL, done), err
}

// renewal takes the end of a renewal that begins now, and tells it.
func (l *locker) renewal(ttl time.Duration, done func(backends.Renewal, error)) func(line, int64) error {
	begun := l.env.Now()
	return func(end line, at int64) error {
		if err := failed(end); err != nil {
			done(backends.Renewal{Nodes: end.Nodes}, err)
			return nil
		}
		r, err := l.lived(end, ttl, begun, at)
		done(r, err)
		return err
	}
}

// failed is what became of a renewal by what the adapter says.
func failed(end line) error {
	return definite(cmp.Or(end.Failed, ansOK), end.Message)
}

// finished is the end of what was started under a number.
func (l *locker) finished(n line, at int64) error {
	l.mu.Lock()
	done := l.asked[n.N]
	delete(l.asked, n.N)
	l.mu.Unlock()
	if done == nil {
		return breach("the adapter sent %s with n=%d, which no earlier notice has", n.Notice, n.N)
	}
	return done(n, at)
}

// goOn lets the adapter go on.
func (l *locker) goOn(n int64) {
	if err := l.send(request{Op: opGo, N: n}); err != nil && !errors.Is(err, errEnded) {
		l.broke(err) //nolint:errcheck // it was told
	}
}

// leaseName is what the grant's lease is called, before the answer of the attempt too.
func (h *hold) leaseName() string {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	return cmp.Or(h.info.Lease, h.req.LeaseName())
}
