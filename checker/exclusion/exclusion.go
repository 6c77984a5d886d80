package exclusion

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// mutualExclusion sweeps over the proven holds of each lock, in order of their start:
// a hold that begins while another one lasts is an overlap. O(n log n), exact.
func mutualExclusion(in question) checker.Result {
	var all []facts.Overlap
	figures := checker.Figures{}
	for _, lock := range in.Locks {
		all = append(all, in.Overlaps(lock)...)
	}
	for _, o := range all {
		figures.Raise("overlap_max_ns", o.Span.To-o.Span.From)
	}
	figures["violations"] = int64(len(all))
	r := in.Conclude("comparison of the times during which clients certainly believed that they held the lock", in.worstOverlaps(all, checker.MaxFindings), len(all))
	r.Figures = figures
	return r
}

// asOverlap is the finding of an overlap before it is explained.
func (in question) asOverlap(o facts.Overlap, class checker.Class, reason checker.Reason) checker.Finding {
	f := checker.Finding{
		Rule: "overlap", Class: class, Reason: reason,
		Gating: !in.Run.OwnFence && (class != checker.Inherent || in.Run.Fencing != history.FencingOn),
		Grants: []string{o.First.ID, o.Second.ID}, From: o.Span.From, To: o.Span.To,
	}
	if reason == checker.ReasonToldLate {
		f.Rule = "late-notice"
	}
	f.Cost(in.LossBy(f.Grants))
	return f
}

func (in question) overlapFinding(o facts.Overlap, class checker.Class, reason checker.Reason, why string) checker.Finding {
	first, second := o.First, o.Second
	c := in.OverlapCause(o, class)
	events := in.HoldEvents(first, second)
	if reason == checker.ReasonBothValid {
		why += fmt.Sprintf(": %s and %s", running(first, o.Span.From), running(second, o.Span.From))
		events = append(events, leaseEvents(o.Span.From, first, second)...)
		slices.Sort(events)
		events = slices.Compact(events)
	}
	f := in.asOverlap(o, class, reason)
	f.Doubtful = class == checker.Inherent && c.Unasked() // no fault touched its client: the host did
	f.Message = fmt.Sprintf("%s (grant %s) got lock %s at %s while %s (grant %s) was still using it; for %s both believed that they held the lock; %s",
		second.Client, second.ID, first.Lock, checker.Seconds(o.Span.From), first.Client, first.ID, checker.Millis(o.Span.To-o.Span.From), why)
	f.Events = events
	f.Because(c)
	return f
}

// running says until when the lease of a grant was confirmed at a moment, and by what.
func running(g *history.Grant, at int64) string {
	text := fmt.Sprintf("the lease of grant %s ran until %s", g.ID, checker.Seconds(g.DeadlineAt(at).V))
	rn := g.RenewedBy(at)
	if rn == nil {
		return text
	}
	if rn.Return.Sent.Set {
		text += fmt.Sprintf(" (renewal sent at %s, acknowledged at %s", checker.Seconds(rn.Return.Sent.V), checker.Seconds(rn.Return.Time))
	} else {
		text += " (renewal acknowledged at " + checker.Seconds(rn.Return.Time)
	}
	if by := checker.Joined(rn.Return.Nodes, nil); by != "" {
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
