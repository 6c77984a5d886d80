package checker

import (
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
