package causes

import (
	"fmt"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Classify is the rule of the classes: defect exactly if both grants are before their deadline (minus the tolerance)
// at the first instant of the overlap; undetermined if that depends on a deadline that is not on record; else
// inherent, unless its library had to tell the client and did not.
func (in Causes) Classify(o facts.Overlap) (checker.Class, checker.Reason, string) {
	at := o.Span.From
	unknown := ""
	for _, g := range []*history.Grant{o.First, o.Second} {
		if in.Run.Ends == history.EndsConnection {
			switch from, explained := in.Disconnected(g); {
			case at >= from && explained:
				return checker.Inherent, checker.ReasonConnectionOver, fmt.Sprintf("grant %s depends on a connection, and this connection "+
					"may have ended as early as %s", g.ID, checker.Seconds(from))
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
			return checker.Defect, checker.ReasonToldLate, fmt.Sprintf("the lease of grant %s had run out at %s, and the client's "+
				"library %s", g.ID, checker.Seconds(d.V), in.Signal(g))
		case at >= d.V-in.Run.Tolerance:
			return checker.Inherent, checker.ReasonLeaseOver, fmt.Sprintf("the lease of grant %s had run out at %s", g.ID,
				checker.Seconds(d.V))
		}
	}
	if unknown != "" && in.Run.Ends == history.EndsConnection {
		return checker.Undetermined, checker.ReasonConnectionUnknown, fmt.Sprintf("grant %s depends on a connection that may have "+
			"ended, but the record does not show when", unknown)
	}
	if unknown != "" {
		return checker.Undetermined, checker.ReasonDeadlineUnknown, fmt.Sprintf("the record does not show the deadline of grant %s",
			unknown)
	}
	if !in.Leased() {
		return checker.Defect, checker.ReasonNoLease, "the two grants have no leases, so neither of them had expired"
	}
	return checker.Defect, checker.ReasonBothValid, "both leases were still running"
}

// OverlapCause returns why two clients were inside at once.
func (in Causes) OverlapCause(o facts.Overlap, class checker.Class) checker.Cause {
	if class == checker.Inherent && in.Run.Ends == history.EndsConnection {
		return in.disconnectedBy(o)
	}
	if late := in.late(o); class == checker.Inherent || in.toldLate(late, o) {
		if c, short := in.shortened(late, o.Span.From); short {
			return c
		}
		return in.overlapLate(late, o)
	}
	return in.brokenBy(o.First, o.Second, o.Span.From, min(o.Span.From, in.Shown(o.First)))
}

// disconnectedBy is the fault by which the connection of one of two grants may have ended.
func (in Causes) disconnectedBy(o facts.Overlap) checker.Cause {
	for _, g := range []*history.Grant{o.First, o.Second} {
		if from, _ := in.Disconnected(g); o.Span.From < from {
			continue
		}
		if f := in.faultOn(g, o.Span.From, o.Span.From, func(f *history.Injection) bool { return f.Disconnects(g) }); f != nil {
			return FaultCause(f)
		}
	}
	return checker.NoCause
}

// overlapLate is why the client of a grant acted after its lease had run out.
func (in Causes) overlapLate(late *history.Grant, o facts.Overlap) checker.Cause {
	l := in.overlapLateness(late, o)
	c := in.LateCause(l)
	if ns, known := in.SignalLate(late); known && ns > in.Run.Tolerance && in.heldBy(l) == nil && in.hostLate(late, ns) {
		stalls := "unplanned host stalls delayed "
		if ns <= 2*in.Run.Tolerance {
			stalls = "stalls too short to be recorded may have delayed "
		}
		return checker.Cause{Kind: checker.CauseStall, Text: stalls + late.Client + " and its library"}
	}
	if c.Kind == checker.CauseOverrun {
		if busy, is := in.answeredLate(l); is {
			return busy
		}
	}
	return c
}

// answeredLate is the cause of an overrun if the client waited for answers for as long as it was late, with what the host held it
// up otherwise, and something waited for a processor or a disk in more than half of that: on an idle host they would have come.
func (in Causes) answeredLate(l Lateness) (checker.Cause, bool) {
	client, span := l.Grant.Client, history.Interval{From: l.From, To: l.Until}
	late := max(l.Begun, l.Due.V+in.Run.Tolerance) // what began after it explains nothing
	var waits []history.Interval
	var waited int64
	asks := in.AsksOf(client)
	for _, ask := range asks[sort.Search(len(asks), func(i int) bool { return asks[i].To > span.From }):] {
		if ask.From > late {
			break
		}
		part := ask.Overlap(span)
		waits, waited = append(waits, part), waited+in.waited(part)
	}
	whole := in.HeldUp(span, waits)
	others := in.HeldUp(span, waits, in.Stands()[client], in.StallsOf(client)) - whole
	behind := l.Until - l.Due.V - in.Run.Tolerance
	text := fmt.Sprintf("the host was busy while %s waited for answers: they took %s, and tasks waited for a processor or a disk "+
		"during %s of this time", client, checker.Millis(whole), checker.Millis(waited))
	return checker.Cause{Kind: checker.CauseStall, Text: text}, l.Due.Set && 2*waited > whole && waited+others >= behind
}

// late is the grant of an inherent overlap whose lease had run out when it began.
func (in Causes) late(o facts.Overlap) *history.Grant {
	for _, g := range []*history.Grant{o.First, o.Second} {
		if d := g.DeadlineAt(o.Span.From); d.Set && o.Span.From >= d.V-in.Run.Tolerance {
			return g
		}
	}
	return o.First
}

// overlapLateness is how late the holder of a grant was when somebody else got the lock.
func (in Causes) overlapLateness(late *history.Grant, o facts.Overlap) Lateness {
	return Lateness{
		Grant: late, From: in.InTime(late, o.Span.From), Until: in.Hold(late).To, Begun: o.Span.From,
		Due: late.DeadlineAt(o.Span.From),
	}
}
