package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

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

// late is the grant of an inherent overlap whose lease had run out when it began.
func (in *Input) late(o overlap) *history.Grant {
	for _, g := range []*history.Grant{o.first, o.second} {
		if d := g.DeadlineAt(o.span.From); d.Set && o.span.From >= d.V-in.Run.Tolerance {
			return g
		}
	}
	return o.first
}
