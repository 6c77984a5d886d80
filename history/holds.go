package history

// Interval is half-open: [From, To). It is empty when To is not after From.
type Interval struct{ From, To int64 }

// Empty reports whether no moment lies in the interval.
func (i Interval) Empty() bool { return i.To <= i.From }

// Overlap is the part that two intervals share; empty where they do not meet.
func (i Interval) Overlap(o Interval) Interval {
	return Interval{From: max(i.From, o.From), To: min(i.To, o.To)}
}

// ProvenHold is when the client of a grant certainly believed that it held the lock:
// from its acquire-ok to the earliest of the release's invocation, its kill, its first
// loss notice or the deadline in force (where the run's discipline is to obey), and,
// where it never released, its next acquire of that lock in that mode (unless the lock is
// reentrant); where none of these is on record, its last own event; then on to the last
// use that it invoked under the grant, for who acts as the holder believes that it holds.
func (r *Record) ProvenHold(g *Grant) Interval {
	if !g.Granted() {
		return Interval{}
	}
	from := g.From()
	end := int64(Forever)
	if len(g.Releases) > 0 {
		end = g.Releases[0].Start()
	}
	if kill, ok := r.Kills[g.Client]; ok {
		end = min(end, kill)
	}
	if len(g.Releases) == 0 && r.Model.MovesOn() {
		if next := r.follower(g); next != nil {
			end = min(end, next.Acquire.Start()) // it has moved on
		}
	}
	if r.Run.Discipline != Trusting {
		end = min(end, g.BeliefEnds())
	}
	if end == Forever {
		end = r.Last[g.Client]
	}
	if r.End == nil {
		end = min(end, r.Events[len(r.Events)-1].Time) // cut off: what came then is not known
	}
	for _, u := range g.Uses {
		end = max(end, u.Start())
	}
	return Interval{From: from, To: end}
}

// BeliefEnds is when an obeying client stops to believe: its first loss notice, or the
// first moment at which the deadline in force has passed. A later renewal does not
// bring the belief back.
func (g *Grant) BeliefEnds() int64 {
	end := int64(Forever)
	if len(g.Losses) > 0 {
		end = g.Losses[0].Time
	}
	return min(end, g.lapses().Or(Forever))
}

// lapses is the first moment at which the deadline in force has passed.
func (g *Grant) lapses() Opt {
	if g.InSession() {
		return g.Under.lapses(g.Client, g.From())
	}
	d := g.Acquire.Return.Deadline
	if !d.Set {
		return d
	}
	for _, rn := range g.Renews {
		if rn.Outcome() != OK || !rn.Return.Deadline.Set {
			continue
		}
		if rn.Return.Time >= d.V {
			break
		}
		d.V = max(d.V, rn.Return.Deadline.V)
	}
	return d
}

// InSession reports whether the grant runs out with a session whose times are on record:
// then acquiring has not renewed it.
func (g *Grant) InSession() bool {
	return g.Under != nil && g.Under.Session() && (g.Under.Created != nil || len(g.Under.Renews) > 0)
}

// DeadlineAt is the deadline in force at time t, as far as the client had been told by
// then; unset where it is unknown, or not granted. Grants without a lease have none: see
// Leased.
func (g *Grant) DeadlineAt(t int64) Opt {
	if !g.Granted() {
		return Opt{}
	}
	if g.InSession() {
		return g.Under.deadlineAt(g.Client, t)
	}
	d := g.Acquire.Return.Deadline
	if !d.Set {
		return Opt{}
	}
	for _, rn := range g.Renews {
		if rn.Outcome() == OK && rn.Return.Time <= t && rn.Return.Deadline.Set {
			d.V = max(d.V, rn.Return.Deadline.V)
		}
	}
	return d
}

// RunsOut is the moment from which the store may let the grant expire: sent + ttl of the
// acquire, or of its session's creation, or of the last renewal that is known to have been
// applied, minus the tolerance. A lease whose times are not on record may expire at any
// time after that.
func (g *Grant) RunsOut(tolerance int64) int64 {
	base := g.Acquire.Start()
	switch {
	case g.InSession():
		return g.Under.RunsOut(tolerance).Or(base)
	case g.Granted() && g.Acquire.Return.Sent.Set && g.Acquire.Return.TTL.Set:
		base = g.Acquire.Return.Sent.V + g.Acquire.Return.TTL.V - tolerance
	}
	if len(g.Renews) == 0 {
		return base
	}
	return renewed(Some(base), g.Renews, tolerance).V
}

// renewed carries the moment from which a lease may run out on by its renewals. One without
// times says only that the lease was alive then.
func renewed(base Opt, renews []*Call, tolerance int64) Opt {
	for _, rn := range renews {
		if rn.Outcome() != OK {
			continue
		}
		until := rn.Start()
		if rn.Return.Sent.Set && rn.Return.TTL.Set {
			until = rn.Return.Sent.V + rn.Return.TTL.V - tolerance
		}
		base = Some(max(base.Or(until), until))
	}
	return base
}

// Leased reports whether the grants of the run run out by themselves.
func (r *Record) Leased() bool { return r.Run.Ends == EndsLease || r.Run.Ends == EndsSession }

// Freed is the earliest moment at which the store may free the grant because its
// holder died: only for locks that end with the process. From just before the kill
// signal or, with no kill on record, from the client's last event.
func (r *Record) Freed(g *Grant) int64 {
	if r.Run.Ends != EndsProcess {
		return Forever
	}
	if kill, ok := r.Kills[g.Client]; ok {
		return kill
	}
	return r.Last[g.Client]
}
