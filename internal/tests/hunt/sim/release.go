package sim

import "github.com/lockstorm/lockstorm/internal/lists"

// give is a release: true says that the service removed something.
func (s *service) give(g *Grant) bool {
	if s.w.cfg.Service == Optimistic {
		return true
	}
	l := s.lock(g.Lock)
	s.purge(l)
	defer s.pump(l)
	h := l.of(g)
	if h == nil && s.w.cfg.counts() {
		h = s.another(l, g)
	}
	if h == nil {
		return s.foreign(l, g)
	}
	switch {
	case s.w.cfg.Ends() == endsNever && s.w.bug(ReleaseIgnored):
		s.w.breach(Breach{Kind: ReleaseIgnored, Grant: g})
		return true
	case g.Known >= 0 && h.g == g && s.firm(h) && s.w.bug(LiesNotHeld):
		s.w.breach(Breach{Kind: LiesNotHeld, Victim: g})
		s.drop(l, h, s.w.now)
		return false
	case s.w.cfg.counts() && len(l.holds) > 1 && s.w.bug(FreesAll):
		s.freeAll(l, h)
		return true
	}
	s.drop(l, h, s.w.now)
	return true
}

const endsNever = "never"

// firm reports whether a hold has long to go.
func (s *service) firm(h *hold) bool { return h.end()-s.w.now > s.w.cfg.TTL/3 }

// another is a hold of the same owner: a store that counts cannot tell them apart.
func (s *service) another(l *lock, g *Grant) *hold {
	h, _ := lists.Find(l.holds, func(h *hold) bool { return s.w.cfg.Together(h.g, g) })
	return h
}

func (s *service) freeAll(l *lock, inner *hold) {
	for _, h := range append([]*hold(nil), l.holds...) {
		if h != inner {
			s.w.breach(Breach{Kind: FreesAll, Grant: inner.g, Victim: h.g})
		}
		s.drop(l, h, s.w.now)
	}
}

// foreign is a release of what its grant does not hold: refused, but for the bug.
func (s *service) foreign(l *lock, g *Grant) bool {
	if len(l.holds) == 0 {
		return false
	}
	h, kind := l.holds[0], ForeignRelease
	if g.Applied < 0 {
		kind = ReleaseOfNone
	}
	ripe := h.g.Known >= 0 && h.g.Released < 0 && s.firm(h) && s.w.alive(h.g.Client)
	if !ripe || s.w.cfg.Together(h.g, g) || !s.w.bug(kind) {
		return false
	}
	s.w.breach(Breach{Kind: kind, Grant: g, Victim: h.g})
	s.drop(l, h, s.w.now)
	return true
}

// renew extends a lease: true says that it was in force.
func (s *service) renew(g *Grant) bool {
	l := s.lock(g.Lock)
	s.purge(l)
	h := l.of(g)
	if h == nil {
		return s.revive(l, g)
	}
	if g.Known >= 0 && s.firm(h) && s.w.bug(LiesNotHeld) {
		s.w.breach(Breach{Kind: LiesNotHeld, Victim: g})
		return false
	}
	h.until = max(h.until, s.w.now+s.w.cfg.TTL-s.slack())
	s.extend(l, h)
	s.wake(l, h.until)
	return true
}

// revive takes up a lease that had run out although somebody else was granted since.
func (s *service) revive(l *lock, g *Grant) bool {
	if g.Applied < 0 || len(l.holds) == 0 || l.holds[0].g.Known < 0 || s.w.cfg.Together(l.holds[0].g, g) || !s.w.bug(RevivedLease) {
		return false
	}
	s.w.breach(Breach{Kind: RevivedLease, Grant: g, Victim: l.holds[0].g})
	h := &hold{g: g, until: s.w.now + s.w.cfg.TTL}
	g.Ended = Forever
	l.holds = append(l.holds, h)
	s.wake(l, h.until)
	return true
}

// open begins a session.
func (s *service) open(id string) *session {
	n := &session{id: id, until: s.w.now + s.w.cfg.TTL - s.slack()}
	s.sessions[id] = n
	return n
}

// keep renews a session: true says that it lives.
func (s *service) keep(n *session) bool {
	if n.until <= s.w.now {
		return false
	}
	if !n.early && s.w.bug(EarlyExpiry) {
		n.early = true // it says yes, and forgets
		return true
	}
	if !n.early {
		n.until = max(n.until, s.w.now+s.w.cfg.TTL-s.slack())
	}
	for _, l := range s.sorted() {
		s.wake(l, n.until)
	}
	return true
}
