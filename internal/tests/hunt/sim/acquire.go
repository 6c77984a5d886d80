package sim

import "github.com/lockstorm/lockstorm/history"

// acquire asks for a lock, until it is granted, unknown, or, with one try, refused.
func (c *client) acquire(lock, mode string, within *holding, then func(*holding)) {
	c.withSession(func() {
		if c.w.stopping {
			then(nil)
			return
		}
		f := history.FAcquire
		if !c.final && within == nil && c.w.rnd.IntN(100) < c.w.cfg.Try {
			f = history.FTryAcquire
		}
		g := c.newGrant(lock, mode, within)
		if c.w.cfg.Workload == Try {
			f = history.FTryAcquire
		}
		g.Tries = f == history.FTryAcquire
		c.movesOn(g)
		e := c.op(f, g)
		e.Mode, e.Owner = mode, g.Owner
		c.invoke(e)
		if c.w.cfg.Service == Queues && f == history.FAcquire {
			c.queueUp(g, e, then)
			return
		}
		c.try(g, e, then)
	})
}

// movesOn ends the belief in grants that the client has left without a release.
func (c *client) movesOn(g *Grant) {
	if c.w.cfg.counts() {
		return
	}
	for _, o := range c.w.truth.Grants {
		if o != g && o.Client == c.name && o.Lock == g.Lock && o.Mode == g.Mode && o.Released < 0 && o.Moved < 0 {
			o.Moved = c.w.now
		}
	}
}

func (c *client) serverSession() *session {
	if c.session == nil {
		return nil
	}
	return c.session.at
}

// try sends one request; a waiter sends the next one after a while.
func (c *client) try(g *Grant, e history.Line, then func(*holding)) {
	w, of := c.w, c.serverSession()
	g.Sent = w.now
	if w.svc.heldByDead(g) && w.bug(TakesOver) {
		c.takeOver(g, e, then)
		return
	}
	g.Wire.Requests++
	epoch := c.epoch
	serve := func(reply func(answer)) {
		if epoch != c.epoch {
			return // it came on a connection that is closed
		}
		if w.cfg.Workload == Try && w.bug(SlowTry) {
			w.breach(Breach{Kind: SlowTry, Grant: g})
			w.after(w.patience()*3/4, func() { reply(answer{code: history.ErrBusy}) })
			return
		}
		a := answer{code: history.ErrBusy}
		if a.ok = w.svc.take(g, of); !a.ok && of != nil && of.until <= w.now {
			a.code = history.ErrNotHeld
		}
		reply(a)
	}
	g.Waits = w.now >= w.truth.Final
	c.ask(false, w.patience(), serve, func(a answer) {
		if a.known && a.sent {
			g.Wire.Answers++
		}
		busy := a.known && a.sent && !a.ok && a.code == history.ErrBusy
		if busy && e.F == history.FAcquire && !w.stopping {
			c.after(false, 2*ms+w.upTo(8*ms), func() { c.try(g, e, then) })
			return
		}
		c.answered(g, e, a, then)
	})
}

// takeOver is a client that has found the holder dead, is paused, or not, and then takes the lock whoever has it by then.
func (c *client) takeOver(g *Grant, e history.Line, then func(*holding)) {
	w := c.w
	if w.rnd.IntN(2) == 0 {
		length := w.cfg.TTL/2 + w.upTo(w.cfg.TTL)
		f, v := w.ask(Pause, c, length)
		w.after(100*us, func() { w.strike(f, c, v, length) })
	}
	c.after(false, 12*ms+w.upTo(5*ms), func() {
		w.svc.seize(g)
		c.answered(g, e, answer{known: true, sent: true, ok: true, sentAt: g.Sent}, then)
	})
}

// queueUp sends one request that is answered when it is its turn.
func (c *client) queueUp(g *Grant, e history.Line, then func(*holding)) {
	w, of := c.w, c.serverSession()
	g.Sent, g.Waits = w.now, true
	serve := func(reply func(answer)) {
		w.svc.enqueue(&waiter{
			g: g, session: of, granted: func() { reply(answer{ok: true}) },
			refused: func() { reply(answer{code: history.ErrNotHeld}) },
		})
	}
	g.Wire.Requests++
	c.ask(false, 15*w.cfg.TTL, serve, func(a answer) {
		if a.known && a.sent {
			g.Wire.Answers++
		}
		c.answered(g, e, a, then)
	})
}

// answered records the outcome of an acquire.
func (c *client) answered(g *Grant, e history.Line, a answer, then func(*holding)) {
	typ, code := a.outcome()
	g.Over = c.w.now
	if c.w.cfg.Wires {
		e.Value = history.ValueOf(g.Wire)
	}
	switch {
	case typ == history.OK:
		then(c.granted(g, e, a))
		return
	case typ == history.Info:
		g.Unknown, g.Doubt = true, c.w.now
	case code == history.ErrNotHeld && c.session != nil:
		c.loseSession("the store says that the session has ended")
	}
	if typ == history.Fail {
		g.Refused = c.w.now
	}
	c.done(e, typ, code)
	c.unanswered(typ)
	if code == history.ErrBusy && c.w.cfg.Bug == ReleaseOfNone {
		c.leave(&holding{g: g}, func() { then(nil) })
		return
	}
	then(nil)
}

// granted records a grant, with all that the lock says of it.
func (c *client) granted(g *Grant, e history.Line, a answer) *holding {
	w := c.w
	g.Known, g.Sent = w.now, a.sentAt
	h := &holding{g: g, deadline: Forever}
	e.Owner, e.Sent = g.Owner, history.Some(a.sentAt)
	if w.cfg.Tokens {
		e.Token = history.Some(g.Token)
	}
	switch {
	case c.session != nil:
		g.Lease, h.deadline, g.Base = c.session.id, c.session.deadline, c.session.base
		c.session.holds = append(c.session.holds, h)
		if c.session.lost { // it was told while it waited
			h.lost, g.Lost = true, w.now
		}
	case w.cfg.Leased():
		g.Lease, h.deadline, g.Base = g.ID, a.sentAt+w.cfg.TTL-w.cfg.Drift, a.sentAt+w.cfg.TTL
	}
	if w.cfg.Leased() {
		g.Deadlines = append(g.Deadlines, Told{w.now, h.deadline})
		e.Lease, e.TTL, e.Deadline = g.Lease, history.Some(w.cfg.TTL), history.Some(h.deadline)
	}
	c.done(e, history.OK, "")
	c.held = append(c.held, h)
	if w.cfg.Service == Leases && w.cfg.Renew {
		c.renewer(h)
	}
	return h
}

// leave releases, once no renewal is under way; a forgetful client that lost its lease goes
// without.
func (c *client) leave(h *holding, then func()) {
	w, g := c.w, h.g
	h.over = true
	if h.renewing {
		h.after = func() { c.leave(h, then) }
		return
	}
	if w.cfg.Forgetful && w.cfg.Service == Leases && g.Known >= 0 && !c.valid(h) {
		then()
		return
	}
	e := c.op(history.FRelease, g)
	e.Owner, e.Lease = g.Owner, g.Lease
	c.invoke(e)
	g.Retried = g.Released >= 0
	epoch := c.epoch
	if g.Released < 0 {
		g.Released = w.now
	}
	serve := func(reply func(answer)) {
		if epoch == c.epoch {
			reply(answer{ok: w.svc.give(g), code: history.ErrNotHeld})
		}
	}
	c.ask(false, w.patience(), serve, func(a answer) {
		typ, code := a.outcome()
		c.done(e, typ, code)
		c.unanswered(typ)
		if code == history.ErrNotSent && !w.stopping {
			c.after(false, 5*ms, func() { c.leave(h, then) })
			return
		}
		g.Back, g.Settled = w.now, string(typ)
		g.denied(code, w.now)
		then()
	})
}
