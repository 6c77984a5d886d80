package exclusion

import (
	"cmp"
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
	if most := in.mostAtOnce(all); most > 0 {
		figures["holders_max"] = most
	}
	figures["violations"] = int64(len(all))
	short := in.shortRenewals()
	listed := short[:min(len(short), maxShort)]
	r := in.Conclude("comparison of the times during which clients certainly believed that they held the lock",
		append(in.worstOverlaps(all, checker.MaxFindings-len(listed)), listed...), len(all)+len(short))
	r.Figures = figures
	return r
}

// mostAtOnce is how many clients at most believed at one moment that they held a lock that is held by one.
func (in question) mostAtOnce(all []facts.Overlap) (most int64) {
	type edge struct {
		at, by int64
		lock   string
	}
	var edges []edge
	met := map[*history.Grant]bool{}
	for _, o := range all {
		for _, g := range []*history.Grant{o.First, o.Second} {
			if h := in.Hold(g); !met[g] {
				met[g] = true
				edges = append(edges, edge{h.From, 1, g.Lock}, edge{h.To, -1, g.Lock})
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	inside := map[string]int64{}
	for _, e := range edges {
		inside[e.lock] += e.by
		most = max(most, inside[e.lock])
	}
	return most
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
	f.Message = fmt.Sprintf("%s (grant %s) got lock %s at %s while %s (grant %s) was still using it; for %s both believed that "+
		"they held the lock; %s",
		second.Client, second.ID, first.Lock, checker.Seconds(o.Span.From), first.Client, first.ID,
		checker.Millis(o.Span.To-o.Span.From), why)
	f.Events = events
	f.Because(c)
	f.Lead = in.Lead(&f, first, second)
	return f
}

// running says until when the lease of a grant was confirmed at a moment, and by what.
func running(g *history.Grant, at int64) string {
	text := fmt.Sprintf("the lease of grant %s ran until %s", g.ID, checker.Seconds(g.DeadlineAt(at).V))
	rn := g.RenewedBy(at)
	if rn == nil {
		return text
	}
	if rn.Return.Sent().Set {
		text += fmt.Sprintf(" (renewal sent at %s, acknowledged at %s", checker.Seconds(rn.Return.Sent().V),
			checker.Seconds(rn.Return.Time))
	} else {
		text += " (renewal acknowledged at " + checker.Seconds(rn.Return.Time)
	}
	if by := checker.Joined(rn.Return.Nodes(), nil); by != "" {
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
