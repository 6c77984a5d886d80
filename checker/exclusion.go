package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// mutualExclusion sweeps over the proven holds of each lock, in order of their start:
// a hold that begins while another one lasts is an overlap. O(n log n), exact.
func mutualExclusion(in *Input) Result {
	var all []overlap
	figures := Figures{}
	for _, lock := range in.Locks {
		all = append(all, in.overlaps(lock)...)
	}
	for _, o := range all {
		figures.Raise("overlap_max_ns", o.span.To-o.span.From)
	}
	figures["violations"] = int64(len(all))
	r := in.conclude("sweep over proven holds", in.worstOverlaps(all, maxFindings), len(all))
	r.Figures = figures
	return r
}

// overlap is two grants whose clients believed at the same time.
type overlap struct {
	first, second *history.Grant // by the start of their holds
	span          history.Interval
}

// overlaps finds all overlapping pairs on one lock.
func (in *Input) overlaps(lock string) []overlap {
	type held struct {
		g *history.Grant
		history.Interval
	}
	var holds []held
	for _, g := range in.ByLock[lock] {
		if h := in.Hold(g); !h.Empty() {
			holds = append(holds, held{g, h})
		}
	}
	slices.SortFunc(holds, func(a, b held) int { return cmp.Compare(a.From, b.From) })
	shares := in.Model.Shares()
	var out []overlap
	var active []held
	for _, h := range holds {
		active = slices.DeleteFunc(active, func(a held) bool { return a.To <= h.From })
		for _, a := range active {
			if shares && in.Model.Together(a.g, h.g) {
				continue
			}
			out = append(out, overlap{first: a.g, second: h.g, span: a.Overlap(h.Interval)})
		}
		active = append(active, h)
	}
	return out
}

// classify is the rule of the classes: defect exactly if both grants are before their
// deadline (minus the tolerance) at the first instant of the overlap; undetermined if
// that turns on a deadline that is not on record; else inherent, unless its library had to tell
// the client and did not.
func (in *Input) classify(o overlap) (Class, Reason, string) {
	at := o.span.From
	unknown := ""
	for _, g := range []*history.Grant{o.first, o.second} {
		if in.Run.Ends == history.EndsConnection {
			switch from, explained := in.Disconnected(g); {
			case at >= from && explained:
				return Inherent, ReasonConnectionOver, fmt.Sprintf("the connection that held %s may have ended from %s on", g.ID, Seconds(from))
			case at >= from:
				unknown = g.ID
			}
		}
		if !in.Leased() {
			continue // a grant without a lease never runs out
		}
		d := g.DeadlineAt(at)
		switch {
		case !d.Set:
			unknown = g.ID
		case at >= d.V-in.Run.Tolerance && in.toldLate(g, o):
			return Defect, ReasonToldLate, fmt.Sprintf("the lease of %s had run out at %s, and its library %s", g.ID, Seconds(d.V), in.signal(g))
		case at >= d.V-in.Run.Tolerance:
			return Inherent, ReasonLeaseOver, fmt.Sprintf("the lease of %s had run out at %s", g.ID, Seconds(d.V))
		}
	}
	if unknown != "" && in.Run.Ends == history.EndsConnection {
		return Undetermined, ReasonConnectionUnknown, fmt.Sprintf("the connection that held %s ended, and nothing on record says when", unknown)
	}
	if unknown != "" {
		return Undetermined, ReasonDeadlineUnknown, fmt.Sprintf("the deadline of %s is not on record", unknown)
	}
	if !in.Leased() {
		return Defect, ReasonNoLease, "the grants have no lease that could run out"
	}
	return Defect, ReasonBothValid, "both leases were still running"
}

// overlapCause is why two clients were inside at once.
func (in *Input) overlapCause(o overlap, class Class) Cause {
	if class == Inherent && in.Run.Ends == history.EndsConnection {
		return in.disconnectedBy(o)
	}
	if late := in.late(o); class == Inherent || in.toldLate(late, o) {
		return in.overlapLate(late, o)
	}
	if c, freed := in.freedBy(o.first, o.span.From); freed {
		return c
	}
	c := in.storeCause(o.first, min(o.span.From, in.shown(o.first)))
	if c == noCause {
		if late, ok := in.mayBeFreedBy(o); ok {
			return late
		}
	}
	return c
}

// disconnectedBy is the fault by which the connection of one of two grants may have ended.
func (in *Input) disconnectedBy(o overlap) Cause {
	for _, g := range []*history.Grant{o.first, o.second} {
		if from, _ := in.Disconnected(g); o.span.From < from {
			continue
		}
		if f := in.faultOn(g, o.span.From, o.span.From, func(f *history.Injection) bool { return f.Hurts(g.Client) && !f.Late(g.Client) }); f != nil {
			return faultCause(f)
		}
	}
	return noCause
}

// overlapLate is why the client of a grant acted after its lease had run out.
func (in *Input) overlapLate(late *history.Grant, o overlap) Cause {
	until := in.Hold(late).To
	c := in.lateCause(lateness{g: late, from: late.Sent(), until: until, begun: o.span.From, due: late.DeadlineAt(o.span.From)})
	if ns, known := in.signalLate(late); known && ns > in.Run.Tolerance && !in.heldItself(late, c) && in.hostLate(late, ns) {
		return Cause{Kind: CauseStall, Text: "unplanned stalls of the host, which held " + late.Client + " and its library up"}
	}
	return c
}

// shown is when it was known that a grant is over although its client was not told: the first
// grant to somebody else who asked for the lock later.
func (in *Input) shown(g *history.Grant) int64 {
	in.mu.Lock()
	byOK, known := in.answered[g.Lock]
	if !known {
		byOK = in.byOK(g.Lock)
		in.answered[g.Lock] = byOK
	}
	in.mu.Unlock()
	for _, h := range byOK[answeredAt(byOK, g.From()+1):] {
		if h.Sent() > g.From() && !in.Model.Together(g, h) {
			return h.From()
		}
	}
	return history.Forever
}

// late is the grant of an inherent overlap whose lease had run out when it began.
func (in *Input) late(o overlap) *history.Grant {
	for _, g := range []*history.Grant{o.first, o.second} {
		if d := g.DeadlineAt(o.span.From); d.Set && o.span.From >= d.V-in.Run.Tolerance {
			return g
		}
	}
	return o.first
}

// asOverlap is the finding of an overlap before it is explained.
func (in *Input) asOverlap(o overlap, class Class, reason Reason) Finding {
	f := Finding{
		Rule: "overlap", Class: class, Reason: reason,
		Gating: !in.Run.OwnFence && (class != Inherent || in.Run.Fencing != history.FencingOn),
		Grants: []string{o.first.ID, o.second.ID}, From: o.span.From, To: o.span.To,
	}
	if reason == ReasonToldLate {
		f.Rule = "late-notice"
	}
	f.Lost = in.lostBy(f.Grants)
	return f
}

func (in *Input) overlapFinding(o overlap, class Class, reason Reason, why string) Finding {
	first, second := o.first, o.second
	c := in.overlapCause(o, class)
	events := in.holdEvents(first, second)
	if reason == ReasonBothValid {
		why += fmt.Sprintf(": %s and %s", running(first, o.span.From), running(second, o.span.From))
		events = append(events, leaseEvents(o.span.From, first, second)...)
		slices.Sort(events)
		events = slices.Compact(events)
	}
	f := in.asOverlap(o, class, reason)
	f.Doubtful = class == Inherent && c.unasked() // no fault touched its client: the host did
	f.Message = fmt.Sprintf("%s (grant %s) entered %s at %s while %s (grant %s) still acted as its holder: both inside for %s; %s",
		second.Client, second.ID, first.Lock, Seconds(o.span.From), first.Client, first.ID, Millis(o.span.To-o.span.From), why)
	f.Events = events
	f.because(c)
	return f
}

// running says until when the lease of a grant was confirmed at a moment, and by what.
func running(g *history.Grant, at int64) string {
	text := fmt.Sprintf("that of %s until %s", g.ID, Seconds(g.DeadlineAt(at).V))
	rn := g.RenewedBy(at)
	if rn == nil {
		return text
	}
	if rn.Return.Sent.Set {
		text += fmt.Sprintf(" (renewal sent at %s, acknowledged at %s", Seconds(rn.Return.Sent.V), Seconds(rn.Return.Time))
	} else {
		text += " (renewal acknowledged at " + Seconds(rn.Return.Time)
	}
	if by := joined(rn.Return.Nodes, nil); by != "" {
		text += " by " + by
	}
	return text + ")"
}

// leaseEvents are the events by which the leases of grants were running at a moment: the last renewals
// that were acknowledged, else the creation of a session. What a grant itself confirmed is among its own.
func leaseEvents(at int64, grants ...*history.Grant) (out []int64) {
	for _, g := range grants {
		switch rn := g.RenewedBy(at); {
		case rn != nil:
			out = append(out, rn.Invoke.Index, rn.Return.Index)
		case g.InSession() && g.Under.Created != nil:
			out = append(out, g.Under.Created.Index)
		}
	}
	return out
}

// holdEvents are the events that show the holds of grants: what began each, and the
// last thing that its client did as the holder.
func (in *Input) holdEvents(grants ...*history.Grant) []int64 {
	var out []int64
	for _, g := range grants {
		out = append(out, g.Acquire.Return.Index)
		if n := len(g.Uses); n > 0 {
			out = append(out, g.Uses[n-1].Invoke.Index)
		}
		if len(g.Releases) > 0 {
			out = append(out, g.Releases[0].Invoke.Index)
		}
	}
	slices.Sort(out)
	return out
}
