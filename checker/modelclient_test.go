package checker_test

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// modelClient is a client of a [modelSim]: sections that nest, upgrade, downgrade and share a
// session, as the model allows.
type modelClient struct {
	*simClient
	m       *modelSim
	session string
}

// enter opens a session, where the model has them, and goes on.
func (c *modelClient) enter(then func()) {
	s := c.m
	if !s.model.Session {
		then()
		return
	}
	c.n++
	c.session = fmt.Sprintf("%s-s%d", c.name, c.n)
	sent := s.now
	s.at(s.net(), func() {
		s.sessions[c.session] = s.now + s.ttl
		s.at(s.net(), func() {
			e := c.lease(sent)
			e.Type, e.F = history.Info, history.FLease
			s.log(c.name, e)
			s.at(s.ttl/3, func() { c.keep(c.session) })
			then()
		})
	})
}

// lease is a notice about the session, with its times.
func (c *modelClient) lease(sent int64) history.Line {
	ttl := c.m.ttl
	return history.Line{
		Client: c.name, Lease: c.session, Sent: history.Some(sent * 1000), TTL: history.Some(ttl * 1000),
		Deadline: history.Some((sent + ttl) * 1000),
	}
}

// keep renews the session three times a ttl, but now and then it is held up for too long.
func (c *modelClient) keep(session string) {
	s := c.m
	if c.done || c.session != session {
		return
	}
	if s.rnd.IntN(40) == 0 {
		s.at(s.ttl+s.rnd.Int64N(s.ttl), func() { c.keep(session) })
		return
	}
	s.procs++
	e := history.Line{
		Process: history.Process{N: 900_000 + s.procs}, Type: history.Invoke, F: history.FRenew, Client: c.name,
		Lease: session,
	}
	s.log(c.name, e)
	sent := s.now
	s.at(s.net(), func() {
		ok := s.renew(session)
		s.at(s.net(), func() {
			e.Type, e.Error = history.Fail, history.ErrNotHeld
			if ok {
				made := c.lease(sent)
				e.Type, e.Error, e.Sent, e.TTL, e.Deadline = history.OK, "", made.Sent, made.TTL, made.Deadline
				s.at(s.ttl/3, func() { c.keep(session) })
			}
			s.log(c.name, e)
			if !ok {
				s.log(c.name, history.Line{Type: history.Info, F: history.FLost, Client: c.name, Lease: session})
				c.session = "" // the next section opens another one
			}
		})
	})
}

// section is one round: what the model makes of it.
func (c *modelClient) section() {
	if c.done {
		return
	}
	if c.m.model.Session && c.session == "" {
		c.enter(c.section)
		return
	}
	c.last = c.final
	rnd := c.m.rnd
	outer := c.want(c.m.model.Kind == history.ModelReadWrite && rnd.IntN(3) > 0)
	hold := 500 + rnd.Int64N(2500)
	if c.m.model.Session && rnd.IntN(3) == 0 {
		hold = c.m.ttl + rnd.Int64N(c.m.ttl) // only its renewals carry it that far
	}
	c.acquire(outer, 1000, func(bool) {
		c.m.at(hold, func() { c.inside(outer) })
	})
}

// inside may take the lock again: an inner section, an upgrade, a downgrade.
func (c *modelClient) inside(outer simHold) {
	again := c.m.model.Kind != "" && c.m.rnd.IntN(2) == 0
	if !again || c.session != outer.session { // it may have lost its session meanwhile
		c.leave(outer)
		return
	}
	inner := c.want(c.m.model.Kind == history.ModelReadWrite && !outer.shared)
	inner.owner = outer.owner
	c.acquire(inner, 3, func(ok bool) {
		first, second := inner, outer
		if !ok {
			c.leave(outer)
			return
		}
		if !outer.shared && inner.shared {
			first, second = outer, inner // a downgrade: the writer goes first
		}
		c.m.at(500+c.m.rnd.Int64N(1000), func() {
			c.release(first, func() { c.m.at(1500+c.m.rnd.Int64N(1500), func() { c.leave(second) }) })
		})
	})
}

func (c *modelClient) leave(h simHold) {
	c.release(h, func() {
		if c.last {
			c.done = true
			return
		}
		c.m.at(c.m.rnd.Int64N(2000), c.section)
	})
}

func (c *modelClient) want(shared bool) simHold {
	c.n++
	id := fmt.Sprintf("%s-%d", c.name, c.n)
	owner := c.name // a counted lock has the same owner all the time
	if !c.m.model.Counts() {
		owner = id
	}
	return simHold{grant: id, owner: owner, shared: shared, session: c.session}
}

func (c *modelClient) event(f string, typ history.Type, h simHold) history.Line {
	e := c.op(f, typ, h.grant)
	e.Owner, e.Lease = h.owner, h.session
	if h.shared {
		e.Mode = history.ModeShared
	}
	return e
}

// acquire tries until it is granted, or as often as it may.
func (c *modelClient) acquire(h simHold, tries int, then func(ok bool)) {
	c.m.log(c.name, c.event(history.FAcquire, history.Invoke, h))
	c.try(h, tries, then)
}

func (c *modelClient) try(h simHold, tries int, then func(ok bool)) {
	s := c.m
	sent := s.now
	s.at(s.net(), func() {
		ok := s.take(h)
		s.at(s.net(), func() {
			switch {
			case ok:
				e := c.event(history.FAcquire, history.OK, h)
				e.Sent = history.Some(sent * 1000)
				if !s.model.Session {
					e.Lease, e.TTL, e.Deadline = h.grant, history.Some(s.ttl*1000), history.Some((sent+s.ttl)*1000)
				}
				s.log(c.name, e)
				then(true)
			case tries <= 1:
				e := c.event(history.FAcquire, history.Fail, h)
				e.Error = history.ErrBusy
				s.log(c.name, e)
				then(false)
			default:
				s.at(300+s.rnd.Int64N(700), func() { c.try(h, tries-1, then) })
			}
		})
	})
}

func (c *modelClient) release(h simHold, then func()) {
	s := c.m
	s.log(c.name, c.event(history.FRelease, history.Invoke, h))
	s.at(s.net(), func() {
		ok := s.give(h)
		s.at(s.net(), func() {
			e := c.event(history.FRelease, history.Fail, h)
			if e.Error = history.ErrNotHeld; ok {
				e.Type, e.Error = history.OK, ""
			}
			s.log(c.name, e)
			then()
		})
	})
}
