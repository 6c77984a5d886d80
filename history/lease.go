package history

import (
	"cmp"
	"slices"
	"sort"
)

// Lease is a lease of one grant or, as a session, of several. A name that another client uses later is another lease,
// unless that client joined this one.
type Lease struct {
	ID      string
	Created *Event   // its f:lease; nil: not on record
	Grants  []*Grant // under it, in the order in which they joined
	Renews  []*Call  // in order of their invocation
	Losses  []*Event // notices that it was lost, in order
	Notices []*Event // for a session, its f:lease events: its creation, and the clients that joined

	session *session  // nil: it is the lease of its grants, which renew it
	one     [1]*Grant // what Grants is at first: most leases are of one grant
}

// session sums up a lease of several grants, which acquiring does not renew.
type session struct {
	told    map[string][]deadline // by client: by what it was told, in order
	refused []*Call               // renewals that the store answered with not-held
	latest  int64                 // see LastGranted
	runsOut Opt                   // see RunsOut, by the run's tolerance
	slack   int64                 // the run's tolerance
}

// deadline is what a client knew from a moment on.
type deadline struct {
	from int64
	at   Opt
}

// RunsOut returns the time from which the store may let the lease run out: sent + ttl of its creation or of the last
// renewal that is known to have been applied, minus the tolerance. Unset: nothing is on record.
func (l *Lease) RunsOut(tolerance int64) Opt {
	if l.session != nil && l.session.slack == tolerance {
		return l.session.runsOut
	}
	return l.base(tolerance)
}

func (l *Lease) base(tolerance int64) Opt {
	var base Opt
	if c := l.Created; c != nil && c.Sent().Set && c.TTL().Set {
		base = Some(c.Sent().V + c.TTL().V - tolerance)
	}
	return renewed(base, l.Renews, tolerance)
}

// Session reports whether several grants share the lease, and acquiring does not renew it.
func (l *Lease) Session() bool { return l.session != nil }

// LastGranted returns when the last granted request under a session was sent: the session was alive then. -1: none,
// or no session.
func (l *Lease) LastGranted() int64 {
	if l.session == nil {
		return -1
	}
	return l.session.latest
}

// Refused returns the renewals of a session that the store refused because the session is gone.
func (l *Lease) Refused() []*Call {
	if l.session == nil {
		return nil
	}
	return l.session.refused
}

// deadlineAt is the deadline in force of a session at time t, as far as a client had been
// told by then. A renewal without a deadline leaves it unknown until the next one that has
// one.
func (l *Lease) deadlineAt(client string, t int64) Opt {
	told := l.session.told[client]
	n := sort.Search(len(told), func(i int) bool { return told[i].from > t })
	if n == 0 {
		return Opt{}
	}
	return told[n-1].at
}

// lapses is the first moment, from a grant's beginning on, at which the deadline in force
// has passed; unset where it is not known or nothing says so.
func (l *Lease) lapses(client string, from int64) Opt {
	d := l.deadlineAt(client, from)
	told := l.session.told[client]
	i := sort.Search(len(told), func(i int) bool { return told[i].from > from })
	for _, next := range told[i:] {
		if d.Set && next.from >= d.V {
			break
		}
		d = next.at
	}
	return d
}

// settle sums up a session, once all of it is known: what its clients were told, what was
// refused, how long it lived. Notices are its f:lease events, in order.
func (l *Lease) settle(tolerance int64, notices []*Event) {
	l.Notices = notices
	s := &session{slack: tolerance, runsOut: l.base(tolerance), latest: -1, told: map[string][]deadline{}}
	l.session = s
	for _, g := range l.Grants {
		if g.Granted() {
			s.latest = max(s.latest, g.Sent())
		}
	}
	for _, rn := range l.Renews {
		if rn.NotHeld() {
			s.refused = append(s.refused, rn)
		}
	}
	said := slices.Clone(notices)
	for _, rn := range l.Renews {
		if rn.Outcome() == OK {
			said = append(said, rn.Return)
		}
	}
	slices.SortStableFunc(said, func(a, b *Event) int { return cmp.Compare(a.Time, b.Time) })
	for _, e := range said {
		s.tell(e)
	}
}

// tell notes what a client learned of the deadline. A deadline never comes nearer: renewals may
// overtake each other.
func (s *session) tell(e *Event) {
	told, next := s.told[e.Client()], e.Deadline()
	if n := len(told); n > 0 && told[n-1].at.Set && next.Set {
		next.V = max(next.V, told[n-1].at.V)
	}
	s.told[e.Client()] = append(told, deadline{from: e.Time, at: next})
}

// leaseName is what a name means to the clients that use it: nearly always one.
type leaseName struct {
	client string
	lease  *Lease
	others map[string]*Lease // by client
}

// known is the lease of that name of a client; nil where there is none yet.
func (b *builder) known(id, client string) *Lease {
	n := b.leases[id]
	if n.client == client {
		return n.lease
	}
	return n.others[client]
}

// call gives a lease its name for a client.
func (b *builder) call(id, client string, l *Lease) {
	n := b.leases[id]
	switch {
	case n.lease == nil || n.client == client:
		n.client, n.lease = client, l
	case n.others == nil:
		n.others = map[string]*Lease{client: l}
	default:
		n.others[client] = l
		return
	}
	b.leases[id] = n
}

// leaseOf is the lease of that name of a client; a new one where there is none yet.
func (b *builder) leaseOf(id, client string) *Lease {
	n := b.leases[id]
	if n.lease == nil { // the usual case: nobody has used the name
		n = leaseName{client: client, lease: b.newLease(id)}
		b.leases[id] = n
		return n.lease
	}
	l := b.known(id, client)
	if l == nil {
		l = b.newLease(id)
		b.call(id, client, l)
	}
	return l
}

func (b *builder) newLease(id string) *Lease {
	l := taken(&b.spare)
	l.ID = id
	l.Grants = l.one[:0]
	b.rec.Leases = append(b.rec.Leases, l)
	return l
}

// addLease reads an f:lease: its client has created a lease, or joined one.
func (b *builder) addLease(e *Event) {
	if e.Lease() == "" || e.Client() == "" {
		return
	}
	var how string
	if e.HasJSON() && e.Value().Into(&how) != nil {
		return
	}
	l := b.newest[e.Lease()]
	if l == nil || how != LeaseJoined {
		l = b.newLease(e.Lease())
		l.Created = e
		b.newest[e.Lease()] = l
	}
	b.call(e.Lease(), e.Client(), l)
	b.notices[l] = append(b.notices[l], e)
}

// under puts a grant under the lease that an event of it names.
func (b *builder) under(g *Grant, e *Event) {
	if e.Lease() == "" || g.Lease != "" {
		return
	}
	g.Lease = e.Lease()
	l := b.leaseOf(e.Lease(), g.Client)
	if g.Under != nil && g.Under != l { // it had an unnamed one, of its own
		l.Renews, l.Losses = append(l.Renews, g.Under.Renews...), append(l.Losses, g.Under.Losses...)
		g.Under.Renews, g.Under.Losses = nil, nil
	}
	g.Under = l
	l.Grants = append(l.Grants, g)
}

// named finds the lease that a renewal or a loss is about: by its name, else by its grant.
// nil: there is neither.
func (b *builder) named(e *Event) *Lease {
	if l := b.known(e.Lease(), e.Client()); l != nil && e.Lease() != "" {
		return l
	}
	g := b.rec.ByID[e.Grant()]
	if g == nil {
		return nil
	}
	if g.Under == nil {
		g.Under = b.newLease("")
		g.Under.Grants = append(g.Under.Grants, g)
	}
	return g.Under
}

// settle tells every grant what happened to its lease. A lease of its own is the grant's:
// a renewal says that the grant was held then. One that is shared says nothing about
// grants that were released before, and under a session nothing about any.
func (b *builder) settle() {
	for i, g := range b.rec.Requests {
		if g == nil { // asked for later, if at all
			b.rec.Requests[i] = b.rec.ByID[b.rec.Registered[i].Grant()]
		}
	}
	for _, l := range b.rec.Leases {
		if b.rec.Model.Session {
			l.settle(b.rec.Run.Tolerance, b.notices[l])
		}
		for _, g := range l.Grants {
			switch {
			case l.Session():
				g.Losses = l.lossesOf(g)
			case len(l.Grants) == 1:
				g.Renews, g.Losses = l.Renews, l.Losses
			default:
				g.Losses = l.lossesOf(g)
				g.Renews = l.renewsOf(g)
			}
		}
	}
	for _, g := range b.rec.Grants {
		g.settle()
	}
}

// lossesOf are the losses that hit a grant: while it waited or was not released yet, and not
// those that name another grant: its client believes no more in that one alone.
func (l *Lease) lossesOf(g *Grant) []*Event {
	if g.Acquire == nil {
		return l.Losses
	}
	hit := during(g, l.Losses, func(e *Event) int64 { return e.Time })
	others := func(e *Event) bool { return e.Grant() != "" && e.Grant() != g.ID }
	if slices.ContainsFunc(hit, others) {
		hit = slices.DeleteFunc(slices.Clone(hit), others)
	}
	return hit
}

// renewsOf are the renewals of a shared lease that say something about a grant.
func (l *Lease) renewsOf(g *Grant) []*Call {
	if g.Acquire == nil {
		return l.Renews
	}
	return during(g, l.Renews, (*Call).Start)
}

// during are those of all, in order of their times, between the beginning of a grant's acquire and its release.
func during[T any](g *Grant, all []T, at func(T) int64) []T {
	begin, end := g.Acquire.Start(), g.released()
	i := sort.Search(len(all), func(i int) bool { return at(all[i]) >= begin })
	n := sort.Search(len(all), func(i int) bool { return at(all[i]) > end })
	return all[i:max(i, n)]
}
