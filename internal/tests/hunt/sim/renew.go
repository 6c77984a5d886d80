package sim

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// renewer renews a grant's own lease, under a process number of its own.
func (c *client) renewer(h *holding) {
	process := c.number()
	every := c.w.cfg.TTL / 3
	c.watch(h)
	var tick func()
	tick = func() {
		if h.over || h.lost {
			return
		}
		c.renew(h, &process, func() { c.after(true, every, tick) })
	}
	c.after(true, every, tick)
}

// watch tells an obeying client when its deadline has passed.
func (c *client) watch(h *holding) {
	if c.w.cfg.Discipline == history.Trusting {
		return
	}
	late := int64(0)
	if c.w.cfg.Discipline == history.Told && c.w.cfg.Bug == LateSignal {
		late = c.w.cfg.TTL / 2
	}
	c.w.at(h.deadline+late, func() {
		c.when(true, func() {
			if !h.over && !h.lost && c.w.now >= h.deadline+late {
				if late > 0 {
					c.w.breach(Breach{Kind: LateSignal, Victim: h.g})
				}
				c.lose(h, "the deadline of the lease passed before a renewal succeeded")
			}
		})
	})
}

func (c *client) renew(h *holding, process *int64, again func()) {
	w, g := c.w, h.g
	e := history.Line{
		Process: history.Process{N: *process}, F: history.FRenew, Client: c.name, Lock: g.Lock, Grant: g.ID,
		Lease: g.Lease,
	}
	e.Type = history.Invoke
	w.log(c.name, e)
	h.renewing = true
	g.Renewed++
	asked := w.now
	serve := func(reply func(answer)) { reply(answer{ok: w.svc.renew(g), code: history.ErrNotHeld}) }
	c.ask(true, w.patience(), serve, func(a answer) {
		typ, code := a.outcome()
		switch typ {
		case history.OK:
			c.extended(&e, h, a.sentAt)
		case history.Info:
			g.Unsure = max(g.Unsure, asked+w.cfg.TTL)
			*process = c.number()
		}
		e.Type, e.Error = typ, code
		w.log(c.name, e)
		g.denied(code, w.now)
		if code == history.ErrNotHeld {
			c.lose(h, "a renewal was refused")
		}
		c.renewed(h, again)
	})
}

func (c *client) extended(e *history.Line, h *holding, sent int64) {
	w, to := c.w, sent+c.w.cfg.TTL-c.w.cfg.Drift
	e.Sent, e.TTL, e.Deadline = history.Some(sent), history.Some(w.cfg.TTL), history.Some(to)
	h.g.Deadlines = append(h.g.Deadlines, Told{w.now, to})
	h.g.Base = max(h.g.Base, sent+w.cfg.TTL)
	h.deadline = max(h.deadline, to)
	c.watch(h)
}

// renewed lets a release go on that has waited for the renewal.
func (c *client) renewed(h *holding, again func()) {
	h.renewing = false
	if after := h.after; after != nil {
		h.after = nil
		c.when(false, after)
		return
	}
	again()
}

// clientSession is a session as its client sees it.
type clientSession struct {
	id       string
	at       *session
	deadline int64
	base     int64 // sent + ttl of the last that was acknowledged
	lost     bool
	holds    []*holding
	pending  *history.Line
	process  int64
}

// withSession opens a session where the service wants one and the client has none that lives.
func (c *client) withSession(then func()) {
	w := c.w
	n := c.session
	alive := n != nil && !n.lost && (w.cfg.Discipline == history.Trusting || w.now < n.deadline)
	if !w.cfg.Session() || alive || w.stopping {
		then()
		return
	}
	if n != nil {
		c.loseSession("the deadline of the lease passed before a renewal succeeded")
	}
	next := &clientSession{id: fmt.Sprintf("%s-s%d", c.name, c.number()%1_000_000), process: c.number()}
	serve := func(reply func(answer)) {
		next.at = w.svc.open(next.id)
		reply(answer{ok: true})
	}
	c.ask(false, w.patience(), serve, func(a answer) {
		if typ, _ := a.outcome(); typ != history.OK {
			c.after(false, 5*ms, func() { c.withSession(then) })
			return
		}
		c.opened(next, a.sentAt)
		then()
	})
}

func (c *client) opened(n *clientSession, sent int64) {
	w := c.w
	n.deadline, n.base = sent+w.cfg.TTL-w.cfg.Drift, sent+w.cfg.TTL
	c.session = n
	c.notice(history.Line{
		F: history.FLease, Lease: n.id, Sent: history.Some(sent), TTL: history.Some(w.cfg.TTL), Deadline: history.Some(n.deadline),
	})
	every := w.cfg.TTL / 3
	var tick func()
	tick = func() {
		if c.session != n || n.lost {
			return
		}
		if w.cfg.Discipline != history.Trusting && w.now >= n.deadline {
			c.loseSession("the deadline of the lease passed before a renewal succeeded")
			return
		}
		c.keep(n, func() { c.after(true, every, tick) })
	}
	c.after(true, every, tick)
}

// keep renews a session: of all grants under it.
func (c *client) keep(n *clientSession, again func()) {
	w := c.w
	e := history.Line{Process: history.Process{N: n.process}, Type: history.Invoke, F: history.FRenew, Client: c.name, Lease: n.id}
	w.log(c.name, e)
	n.pending = &e
	asked := w.now
	serve := func(reply func(answer)) { reply(answer{ok: w.svc.keep(n.at), code: history.ErrNotHeld}) }
	c.ask(true, w.patience(), serve, func(a answer) {
		typ, code := a.outcome()
		r := e
		switch typ {
		case history.OK:
			c.kept(n, &r, a.sentAt)
		case history.Info:
			for _, h := range n.holds {
				h.g.Unsure = max(h.g.Unsure, asked+w.cfg.TTL)
			}
			n.process = c.number()
		}
		r.Type, r.Error = typ, code
		w.log(c.name, r)
		n.pending = nil
		for _, h := range n.holds {
			h.g.denied(code, w.now)
		}
		if code == history.ErrNotHeld && c.session == n {
			c.loseSession("a renewal was refused")
			return
		}
		again()
	})
}

func (c *client) kept(n *clientSession, e *history.Line, sent int64) {
	w := c.w
	to := sent + w.cfg.TTL - w.cfg.Drift
	e.Sent, e.TTL, e.Deadline = history.Some(sent), history.Some(w.cfg.TTL), history.Some(to)
	n.deadline, n.base = max(n.deadline, to), max(n.base, sent+w.cfg.TTL)
	for _, h := range n.holds {
		h.g.Base = max(h.g.Base, n.base)
		h.g.Deadlines = append(h.g.Deadlines, Told{w.now, to})
		h.deadline = max(h.deadline, to)
	}
}

// loseSession records that a session is lost: all that is held under it is.
func (c *client) loseSession(why string) {
	n := c.session
	if n == nil || n.lost {
		return
	}
	n.lost = true
	for _, h := range n.holds {
		h.lost = true
		if h.g.Lost < 0 {
			h.g.Lost = c.w.now
		}
	}
	c.notice(history.Line{F: history.FLost, Lease: n.id, Message: why})
	n.holds = slices.Clip(n.holds)
}
