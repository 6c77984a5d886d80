package history

import (
	"cmp"
	"slices"
)

// GaveBack returns when the client itself, and not the library, first asked for a release. Forever if it did not.
func (g *Grant) GaveBack() int64 {
	for _, rel := range g.Releases {
		if !rel.Unasked() {
			return rel.Start()
		}
	}
	return Forever
}

// ToldLost returns the time of the first loss notice; Forever if there is none.
func (g *Grant) ToldLost() int64 {
	if len(g.Losses) > 0 {
		return g.Losses[0].Time
	}
	return Forever
}

// Answered returns when the store first answered a release of the grant: from then on its client knows that it does
// not hold it. Forever if it never did.
func (g *Grant) Answered() int64 {
	end := int64(Forever)
	for _, rel := range g.Releases {
		if rel.Outcome() == OK || rel.NotHeld() {
			end = min(end, rel.End())
		}
	}
	return end
}

// Lapses returns the first time at which the deadline in force has passed.
func (g *Grant) Lapses() Opt {
	if g.InSession() {
		return g.Under.lapses(g.Client, g.From())
	}
	return g.inForce(func(d Opt, renewed int64) bool { return d.Set && renewed >= d.V })
}

// inForce is the deadline in force after the renewals before the first one at whose moment it is over. Renewals may overtake each
// other and never shorten it. One without a deadline leaves it unknown until the next one that has one.
func (g *Grant) inForce(over func(d Opt, renewed int64) bool) Opt {
	d := g.Acquire.Return.Deadline()
	if !d.Set {
		return d
	}
	highest := d.V
	for _, rn := range byAnswer(g.Renews) {
		if over(d, rn.Return.Time) {
			break
		}
		if d = rn.Return.Deadline(); d.Set {
			highest = max(highest, d.V)
			d.V = highest
		}
	}
	return d
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

// InSession reports whether the grant runs out with a session whose times are on record, so that acquiring has not
// renewed it.
func (g *Grant) InSession() bool {
	if g.answer.known {
		return g.answer.session
	}
	return g.Under != nil && g.Under.Session() && (g.Under.Created != nil || len(g.Under.Renews) > 0)
}

// DeadlineAt returns the deadline in force at time t, as far as the client had been told by then; unset if it is
// unknown or not granted. Grants without a lease have none: see Leased.
func (g *Grant) DeadlineAt(t int64) Opt {
	if !g.Granted() {
		return Opt{}
	}
	if g.InSession() {
		return g.Under.deadlineAt(g.Client, t)
	}
	return g.inForce(func(_ Opt, renewed int64) bool { return renewed > t })
}

// RunsOut returns the time from which the store may let the grant expire: sent + ttl of the acquire, or of its
// session's creation, or of the last renewal that is known to have been applied, minus the tolerance. A lease whose
// times are not on record may expire at any time after that.
func (g *Grant) RunsOut(tolerance int64) int64 {
	base := g.Acquire.Start()
	switch {
	case g.InSession():
		return g.Under.RunsOut(tolerance).Or(base)
	case g.Granted() && g.Acquire.Return.Sent().Set && g.Acquire.Return.TTL().Set:
		base = g.Acquire.Return.Sent().V + g.Acquire.Return.TTL().V - tolerance
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
		if rn.Return.Sent().Set && rn.Return.TTL().Set {
			until = rn.Return.Sent().V + rn.Return.TTL().V - tolerance
		}
		base = Some(max(base.Or(until), until))
	}
	return base
}

// Leased reports whether the grants of the run expire.
func (r *Record) Leased() bool { return r.Run.Ends == EndsLease || r.Run.Ends == EndsSession }
