package sim

import (
	"slices"

	"github.com/lockstorm/lockstorm/internal/lists"
)

// service is a lock service that keeps to its model, but for the planted bug. Expiry is by
// the service's own time; what has run out is taken away when somebody asks.
type service struct {
	w        *world
	locks    map[string]*lock
	sessions map[string]*session
	gone     map[string]bool // clients whose death it has noticed
}

type lock struct {
	name  string
	holds []*hold
	queue []*waiter
	token int64
}

// hold is a grant in force.
type hold struct {
	g       *Grant
	until   int64    // Forever: it does not run out by itself
	session *session // nil: a lease of its own, or none
	early   bool     // the bug ends it before its time
	epoch   int      // of the connection that it was granted on
}

// session is what the grants of a client share.
type session struct {
	id    string
	until int64
	early bool
}

// waiter is who stands in the queue, and how it is told.
type waiter struct {
	g       *Grant
	session *session
	granted func()
	refused func()
}

func (s *service) lock(name string) *lock {
	l := s.locks[name]
	if l == nil {
		l = &lock{name: name}
		s.locks[name] = l
	}
	return l
}

// slack is how much earlier than its time a lease runs out, within the tolerance.
func (s *service) slack() int64 {
	if !s.w.cfg.Slack {
		return 0
	}
	return s.w.upTo(s.w.cfg.Tolerance)
}

func (h *hold) end() int64 {
	if h.session != nil {
		return h.session.until
	}
	return h.until
}

// purge takes away what has run out.
func (s *service) purge(l *lock) {
	for _, h := range slices.Clone(l.holds) {
		if h.end() > s.w.now {
			continue
		}
		if h.early || (h.session != nil && h.session.early) {
			s.w.truth.Breaches = append(s.w.truth.Breaches, Breach{Kind: EarlyExpiry, At: h.end(), Victim: h.g})
		}
		s.drop(l, h, h.end())
	}
}

func (s *service) drop(l *lock, h *hold, at int64) {
	h.g.Ended = at
	l.holds = slices.DeleteFunc(l.holds, func(o *hold) bool { return o == h })
}

func (l *lock) of(g *Grant) *hold {
	h, _ := lists.Find(l.holds, func(h *hold) bool { return h.g == g })
	return h
}

// against are the holds that a grant cannot be held beside.
func (s *service) against(l *lock, g *Grant) []*hold {
	return slices.DeleteFunc(slices.Clone(l.holds), func(h *hold) bool { return s.w.cfg.Together(h.g, g) })
}

// take is a request for the lock: granted or refused at once.
func (s *service) take(g *Grant, of *session) bool {
	l := s.lock(g.Lock)
	s.purge(l)
	if s.gone[g.Client] || (of != nil && of.until <= s.w.now) {
		return false
	}
	if rivals := s.against(l, g); len(rivals) > 0 {
		v := rivals[0].g
		ripe := v.Known >= 0 && v.Known < g.Sent && v.Released < 0 && rivals[0].end()-s.w.now > s.w.cfg.TTL/3 && s.w.alive(v.Client)
		if !ripe || !s.w.bug(DoubleGrant) {
			return false
		}
		s.w.breach(Breach{Kind: DoubleGrant, Grant: g, Victim: v})
	}
	s.grant(l, g, of)
	return true
}

func (s *service) grant(l *lock, g *Grant, of *session) {
	if s.w.cfg.Service == Optimistic {
		g.Applied, g.Ended = s.w.now, s.w.now // nothing is held
		return
	}
	h := &hold{g: g, until: Forever, session: of, epoch: s.w.epochOf(g.Client)}
	if s.w.cfg.Service == Leases {
		h.until = s.w.now + s.w.cfg.TTL - s.slack()
		if s.w.bug(EarlyExpiry) {
			h.until, h.early = s.w.now+s.w.cfg.TTL/20, true
		}
		s.extend(l, h)
	}
	g.Applied = s.w.now
	s.hangs(l, h)
	s.stamp(l, g)
	l.holds = append(l.holds, h)
	s.wake(l, h.end())
}

// extend lets what a reentrant owner holds run out together.
func (s *service) extend(l *lock, h *hold) {
	for _, o := range l.holds {
		if s.w.cfg.counts() && s.w.cfg.Together(o.g, h.g) && !h.early {
			o.until = max(o.until, h.until)
			h.until = o.until
		}
	}
}

// stamp gives a grant its token: the next one, but for an owner that enters again.
func (s *service) stamp(l *lock, g *Grant) {
	if !s.w.cfg.Tokens {
		return
	}
	twice := s.w.cfg.Bug == TokenTwice || s.w.cfg.Bug == EqualToken
	switch {
	case twice && l.token > 0 && s.w.bug(s.w.cfg.Bug):
		s.w.breach(Breach{Kind: s.w.cfg.Bug, Grant: g})
	case l.token > 2 && s.w.bug(TokenBack):
		s.w.breach(Breach{Kind: TokenBack, Grant: g})
		g.Token = l.token - 2
		return
	default:
		l.token++
	}
	g.Token = l.token
}

// enqueue stands in line for the lock.
func (s *service) enqueue(n *waiter) {
	l := s.lock(n.g.Lock)
	l.queue = append(l.queue, n)
	s.pump(l)
}

// pump serves the line, as far as it goes.
func (s *service) pump(l *lock) {
	s.purge(l)
	for len(l.queue) > 0 {
		if len(l.holds) == 0 {
			s.jump(l)
		}
		n := l.queue[0]
		dead := s.gone[n.g.Client] || (n.session != nil && n.session.until <= s.w.now)
		if !dead && !s.take(n.g, n.session) {
			return
		}
		l.queue = l.queue[1:]
		if dead {
			n.refused()
		} else {
			n.granted()
		}
	}
}

// jump lets the last one in the line go first: the bug.
func (s *service) jump(l *lock) {
	n := len(l.queue)
	if n < 3 || l.queue[n-1].g.Asked-l.queue[0].g.Asked < 110*ms || !s.w.bug(QueueJump) {
		return
	}
	s.w.breach(Breach{Kind: QueueJump, Grant: l.queue[n-1].g, Victim: l.queue[0].g})
	l.queue = slices.Insert(l.queue[:n-1], 0, l.queue[n-1])
}

// wake serves the line again when something may have run out.
func (s *service) wake(l *lock, at int64) {
	if at < Forever {
		s.w.at(at, func() { s.pump(l) })
	}
}

// heldByDead reports whether a lock is held by a client that was killed, and the service has not noticed.
func (s *service) heldByDead(g *Grant) bool {
	holds := s.against(s.lock(g.Lock), g)
	return len(holds) > 0 && holds[0].g.Killed >= 0
}

// seize gives a lock to who takes it by himself: where somebody else has it by then, both have it.
func (s *service) seize(g *Grant) {
	l := s.lock(g.Lock)
	for _, h := range s.against(l, g) {
		s.w.breach(Breach{Kind: DoubleGrant, Grant: g, Victim: h.g})
	}
	s.grant(l, g, nil)
}

// died frees what a dead process held.
func (s *service) died(client string) {
	s.gone[client] = true
	for _, l := range s.sorted() {
		for _, h := range slices.Clone(l.holds) {
			if h.g.Client != client {
				continue
			}
			if s.w.bug(NeverFreed) {
				s.w.breach(Breach{Kind: NeverFreed, Grant: h.g})
				continue
			}
			s.drop(l, h, s.w.now)
		}
		s.pump(l)
	}
}

// forget is what a server without persistence does when it is restarted.
func (s *service) forget(fault int) {
	for _, l := range s.sorted() {
		s.purge(l)
		for _, h := range slices.Clone(l.holds) {
			s.w.breach(Breach{Kind: Forgets, Victim: h.g, Fault: fault})
			s.drop(l, h, s.w.now)
		}
		s.pump(l)
	}
}

func (w *world) epochOf(client string) int {
	for _, c := range w.clients {
		if c.name == client {
			return c.epoch
		}
	}
	return 0
}

func (s *service) sorted() []*lock {
	return lists.Map(s.w.locks, s.lock)
}
