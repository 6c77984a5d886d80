package workloads

import (
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// sessions are the leases of one client that several of its grants share, and the holds
// under each: a renewal extends all of them, a loss ends the belief in all.
type sessions struct {
	c *Client

	mu  sync.Mutex
	all map[string]*session
}

type session struct {
	renewer  *renewer
	deadline int64
	lost     bool
	holds    []*Hold
}

// Session returns the client's callbacks for leases that several grants share.
func (c *Client) Session() backends.Session {
	return backends.Session{Opened: c.sessions.opened, Renewing: c.sessions.renewing, Lost: c.sessions.loss}
}

func (s *sessions) of(lease string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[lease]
	if one == nil {
		one = &session{}
		one.renewer = &renewer{c: s.c, extended: func(to int64) { s.extend(one, to) }}
		s.all[lease] = one
	}
	return one
}

// opened records a new lease.
func (s *sessions) opened(lease string, r backends.Renewal) error {
	s.extend(s.of(lease), r.Deadline)
	return s.c.cfg.Recorder.Notice(history.Line{
		F: history.FLease, Client: s.c.cfg.Name, Lease: lease,
		Sent: history.Some(r.Sent), TTL: history.Some(r.TTL.Nanoseconds()), Deadline: history.Some(r.Deadline),
	})
}

func (s *sessions) renewing(lease string) (func(backends.Renewal, error), error) {
	return s.of(lease).renewer.renewing(lease)
}

// extend gives a lease, and the holds under it, another deadline.
func (s *sessions) extend(one *session, deadline int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.deadline = max(one.deadline, deadline)
	for _, h := range one.holds {
		h.extend(deadline)
	}
}

// loss records that the client learned of the loss of a lease: no hold under it is valid
// any more.
func (s *sessions) loss(lease, reason string) {
	one := s.of(lease)
	s.mu.Lock()
	one.lost = true
	for _, h := range one.holds {
		h.lose()
	}
	s.mu.Unlock()
	s.c.notice(history.Line{F: history.FLost, Lease: lease, Message: reason})
}

// join puts a hold under the lease that it was granted with, if that is one that is shared.
func (s *sessions) join(h *Hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[h.info.Lease]
	if one == nil {
		return
	}
	one.holds = append(one.holds, h)
	h.extend(one.deadline)
	if one.lost {
		h.lose()
	}
}

// leave takes a released hold out.
func (s *sessions) leave(h *Hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.all[h.info.Lease]; one != nil {
		one.holds = slices.DeleteFunc(one.holds, func(o *Hold) bool { return o == h })
	}
}
