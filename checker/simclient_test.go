package checker_test

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// simClient is one client's section, step by step, each message with a delay.
type simClient struct {
	s     *sim
	name  string
	proc  int64
	n     int
	dead  bool
	final bool // the next section is the last
	last  bool // this section is
	done  bool
}

func (c *simClient) op(f string, typ history.Type, grant string) history.Line {
	return history.Line{Process: history.Process{N: c.proc}, Type: typ, F: f, Client: c.name, Lock: "L", Grant: grant}
}

func (s *sim) net() int64 { return 50 + s.rnd.Int64N(200) }

func (c *simClient) section() {
	if c.dead || c.done {
		return
	}
	c.n++
	c.last = c.final
	grant := fmt.Sprintf("%s-%d", c.name, c.n)
	c.s.log(c.name, c.op(history.FAcquire, history.Invoke, grant))
	c.try(grant)
}

func (c *simClient) try(grant string) {
	s := c.s
	sent := s.now
	s.at(s.net(), func() {
		token, ok := s.take(grant)
		if s.mutant.Name == "check-then-set" && !ok {
			// It saw the lock free when it was about to expire, and sets it later.
			if s.lock.until-s.now < s.ttl && s.rnd.IntN(6) == 0 {
				s.at(s.net(), func() { s.grantTo(grant); c.granted(grant, sent, s.lock.token) })
				return
			}
		}
		s.at(s.net(), func() {
			switch {
			case c.dead:
			case ok:
				c.granted(grant, sent, token)
			default:
				s.at(500+s.rnd.Int64N(1500), func() {
					if !c.dead {
						c.try(grant)
					}
				})
			}
		})
	})
}

func (c *simClient) granted(grant string, sent, token int64) {
	s := c.s
	if c.dead {
		return
	}
	e := c.op(history.FAcquire, history.OK, grant)
	e.Sent, e.Token, e.Owner = history.Some(sent*1000), history.Some(token), grant
	if s.ends == history.EndsLease {
		e.Lease, e.TTL, e.Deadline = grant, history.Some(s.ttl*1000), history.Some((sent+s.ttl)*1000)
	}
	s.log(c.name, e)
	hold := 1000 + s.rnd.Int64N(4000)
	if s.pauses && s.rnd.IntN(6) == 0 && !c.last {
		hold = s.ttl + s.rnd.Int64N(s.ttl)
	}
	if s.rnd.IntN(4) == 0 {
		s.at(hold*9/10, func() { c.renewing(grant) })
	}
	s.at(hold, func() { c.finish(grant, sent+s.ttl) })
}

func (c *simClient) renewing(grant string) {
	s := c.s
	if c.dead || s.ends != history.EndsLease {
		return
	}
	s.procs++
	e := c.op(history.FRenew, history.Invoke, grant)
	e.Process.N, e.Lease = 900_000+s.procs, grant
	s.log(c.name, e)
	sent := s.now
	s.at(s.net(), func() {
		ok := s.renew(grant)
		s.at(s.net(), func() {
			if c.dead {
				return
			}
			r := e
			r.Type, r.Error = history.Fail, history.ErrNotHeld
			if ok {
				r.Type, r.Error = history.OK, ""
				r.Sent, r.TTL, r.Deadline = history.Some(sent*1000), history.Some(s.ttl*1000), history.Some((sent+s.ttl)*1000)
			}
			s.log(c.name, r)
		})
	})
}

// finish releases: a client that obeys does not touch anything after its deadline, but
// it does release.
func (c *simClient) finish(grant string, _ int64) {
	s := c.s
	if c.dead {
		return
	}
	s.log(c.name, c.op(history.FRelease, history.Invoke, grant))
	s.at(s.net(), func() {
		ok := s.give(grant)
		s.at(s.net(), func() {
			if c.dead {
				return
			}
			e := c.op(history.FRelease, history.Fail, grant)
			if e.Error = history.ErrNotHeld; ok {
				e.Type, e.Error = history.OK, ""
			}
			s.log(c.name, e)
			if c.last {
				c.done = true
				return
			}
			s.at(s.rnd.Int64N(2000), c.section)
		})
	})
}
