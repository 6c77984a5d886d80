package history

import (
	"cmp"
	"slices"
)

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
// loss notice (unless it is trusting) or the deadline in force (see [Run.ByDeadline]), and,
// where it never released, its next acquire of that lock in that mode (unless the lock is
// reentrant); where none of these is on record, its last own event; then on to the last
// use that it invoked under the grant, for who acts as the holder believes that it holds.
// A deadline counts from the tolerance before it: the lock may let the grant go from then
// on. A use after the store had answered the grant's own release is the client's error and
// extends nothing.
func (r *Record) ProvenHold(g *Grant) Interval {
	if !g.Granted() {
		return Interval{}
	}
	from := g.From()
	end := int64(Forever)
	end = min(end, g.GaveBack())
	if kill, ok := r.Kills[g.Client]; ok {
		end = min(end, kill)
	}
	if len(g.Releases) == 0 && r.Model.MovesOn() {
		if next := r.follower(g); next != nil {
			end = min(end, next.Acquire.Start()) // it has moved on
		}
	}
	if r.Run.Discipline != Trusting {
		end = min(end, g.ToldLost())
	}
	if r.Run.ByDeadline() {
		end = min(end, early(g.lapses(), r.Run.Tolerance))
	}
	if end == Forever || (len(g.Releases) == 0 && r.CutOff(g.Client)) {
		end = min(end, r.Last[g.Client]) // what it did after that is not known
	}
	if r.End == nil {
		end = min(end, r.Events[len(r.Events)-1].Time) // cut off: what came then is not known
	}
	answered := g.answered()
	for _, u := range g.Uses {
		if u.Start() <= answered {
			end = max(end, u.Start())
		}
	}
	return Interval{From: from, To: end}
}

// BeliefEnds is when an obeying client stops to believe: its first loss notice, or the
// first moment at which the deadline in force has passed. A later renewal does not
// bring the belief back.
func (g *Grant) BeliefEnds() int64 { return min(g.ToldLost(), g.lapses().Or(Forever)) }

// GaveBack is when the client itself asked for the first release: not the library. Forever where it
// did not.
func (g *Grant) GaveBack() int64 {
	for _, rel := range g.Releases {
		if !rel.Unasked() {
			return rel.Start()
		}
	}
	return Forever
}

// ToldLost is the first loss notice; Forever where there is none.
func (g *Grant) ToldLost() int64 {
	if len(g.Losses) > 0 {
		return g.Losses[0].Time
	}
	return Forever
}

// early is a deadline minus the tolerance; Forever where there is none.
func early(deadline Opt, tolerance int64) int64 {
	if !deadline.Set {
		return Forever
	}
	return deadline.V - tolerance
}

// answered is when the store had first answered a release of the grant: from then on its
// client knows that it does not hold it. Forever where it never did.
func (g *Grant) answered() int64 {
	end := int64(Forever)
	for _, rel := range g.Releases {
		if rel.Outcome() == OK || rel.NotHeld() {
			end = min(end, rel.End())
		}
	}
	return end
}

// AfterRelease reports whether a use was invoked after the store had answered the grant's own
// release: then that client is wrong, not the lock.
func (g *Grant) AfterRelease(u *Call) bool { return u.Start() > g.answered() }

// lapses is the first moment at which the deadline in force has passed.
func (g *Grant) lapses() Opt {
	if g.InSession() {
		return g.Under.lapses(g.Client, g.From())
	}
	d := g.Acquire.Return.Deadline
	if !d.Set {
		return d
	}
	highest := d.V
	for _, rn := range byAnswer(g.Renews) {
		if d.Set && rn.Return.Time >= d.V {
			break
		}
		d, highest = next(rn.Return.Deadline, highest)
	}
	return d
}

// next is the deadline in force after a renewal, and the highest so far: renewals may overtake
// each other and never shorten it. One without a deadline leaves it unknown until the next one
// that has one.
func next(told Opt, highest int64) (Opt, int64) {
	if !told.Set {
		return told, highest
	}
	told.V = max(told.V, highest)
	return told, told.V
}

// byAnswer are the renewals that succeeded, in the order in which the client learned of it.
func byAnswer(renews []*Call) []*Call {
	ordered := true
	for i, rn := range renews {
		ordered = ordered && rn.Outcome() == OK && (i == 0 || renews[i-1].Return.Time <= rn.Return.Time)
	}
	if ordered {
		return renews
	}
	out := slices.DeleteFunc(slices.Clone(renews), func(rn *Call) bool { return rn.Outcome() != OK })
	slices.SortStableFunc(out, func(a, b *Call) int { return cmp.Compare(a.Return.Time, b.Return.Time) })
	return out
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
	highest := d.V
	for _, rn := range byAnswer(g.Renews) {
		if rn.Return.Time > t {
			break
		}
		d, highest = next(rn.Return.Deadline, highest)
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

// Freed is the earliest moment at which the store may free the grant because its holder died, or
// its connection ended: only for locks that end with the process or the connection. From just before
// the kill signal or, with no kill on record, from the client's last event. The holder may also have
// released it itself, where its log is cut off.
func (r *Record) Freed(g *Grant) int64 {
	switch {
	case r.CutOff(g.Client):
		return r.Last[g.Client]
	case r.Run.Ends == EndsConnection:
		from, _ := r.Disconnected(g)
		return from
	case r.Run.Ends != EndsProcess:
		return Forever
	}
	if kill, ok := r.Kills[g.Client]; ok {
		return kill
	}
	return r.Last[g.Client]
}

// Disconnected is the earliest moment at which the connection that holds a grant may have ended: its
// client was killed, or a fault touched its links or a server. Where the client noticed that it had
// ended, or got no answer to its release, before any of that, it may have been any time after the
// request for the lock: explained is false. Forever: it cannot have ended.
func (r *Record) Disconnected(g *Grant) (from int64, explained bool) {
	from = Forever
	kill, killed := r.Kills[g.Client]
	if killed {
		from = max(kill, g.Sent())
	}
	for _, f := range r.Faults {
		if f.Family == FamilyClient || !f.Hurts(g.Client) || (f.Effect != nil && f.Effect.Type == Fail) {
			continue
		}
		if span := f.Span(); span.To > g.Sent() {
			from = min(from, max(span.From, g.Sent()))
		}
	}
	noticed := g.ToldLost()
	for _, rel := range g.Releases {
		// Who was killed while it waited for the answer noticed nothing.
		if rel.Outcome() == Info && (rel.Return != nil || !killed) {
			noticed = min(noticed, rel.unanswered())
		}
	}
	if noticed < from {
		return g.Sent(), false // also where something came later that could explain it
	}
	return from, true
}
