package sim

import "github.com/lockstorm/lockstorm/history"

// unanswered closes the connection of a client whose request had no answer: what it held by that is over, and
// it knows.
func (c *client) unanswered(typ history.Type) {
	w := c.w
	if typ != history.Info || w.cfg.Service != Connections {
		return
	}
	c.epoch++ // what is still under way on the old one does not arrive
	w.at(max(w.now+w.upTo(2*ms), c.link.cut), func() { w.svc.hangUp(c) })
	c.disconnected("the client closed its connection, because a request had no answer")
}

// disconnected is a client that notices that its connection has ended.
func (c *client) disconnected(why string) {
	for _, h := range c.held {
		if !h.over && !h.lost {
			c.lose(h, why)
		}
	}
}

// cutOff ends connections by a fault: the server frees what was held, and the client notices later, or earlier.
func (w *world) cutOff(c *client, until int64) {
	if w.cfg.Service != Connections || w.rnd.IntN(4) == 0 {
		return // it lasted
	}
	w.at(w.now+w.upTo(until-w.now), func() {
		c.epoch++
		w.svc.hangUp(c)
	})
	w.at(until+w.upTo(5*ms), func() { c.when(true, func() { c.disconnected("its connection is gone") }) })
}

// cutAll ends all connections: the server was killed.
func (w *world) cutAll(until int64) {
	if w.cfg.Service != Connections {
		return
	}
	for _, c := range w.clients {
		if c.dead {
			continue
		}
		c.epoch++
		w.svc.hangUp(c)
		w.at(until+w.upTo(5*ms), func() { c.when(true, func() { c.disconnected("the server closed the client's connection") }) })
	}
}

// hangUp frees what a connection of a client held, but for what was granted on a newer one.
func (s *service) hangUp(c *client) {
	for _, l := range s.sorted() {
		for _, h := range append([]*hold(nil), l.holds...) {
			if h.g.Client == c.name && h.epoch != c.epoch {
				s.drop(l, h, s.w.now)
			}
		}
	}
}

// hangs ends what a connection holds that is not closed: the bug.
func (s *service) hangs(l *lock, h *hold) {
	if s.w.cfg.Service != Connections || !s.w.bug(Hangs) {
		return
	}
	s.w.after(3*ms, func() {
		if l.of(h.g) == h {
			s.w.breach(Breach{Kind: Hangs, Victim: h.g})
			s.drop(l, h, s.w.now)
		}
	})
}
