package causes

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// CauseOf finds what hurt a grant's client, its links or its store between the grant and until: the fault that was at
// work longest in that time, else an overrun.
func (in Causes) CauseOf(g *history.Grant, until int64) checker.Cause {
	return in.causeBefore(g, until, until)
}

// causeBefore is CauseOf for what began at a moment: a fault that struck later is not
// the cause.
func (in Causes) causeBefore(g *history.Grant, until, began int64) checker.Cause {
	if f := in.faultOn(g, until, began, func(f *history.Injection) bool { return f.Hurts(g.Client) }); f != nil {
		return FaultCause(f)
	}
	return overrun(g, until)
}

// StoreCause returns why a store broke its word about a grant at a time. A client that was held up is no reason. A
// store forgets at once, so of several faults the last one counts.
func (in Causes) StoreCause(g *history.Grant, at int64) checker.Cause {
	cause := checker.NoCause
	for _, f := range in.Faults {
		if _, explains := in.touches(g, f, at, at); explains && in.mayBreak(f, g) {
			cause = FaultCause(f)
		}
	}
	return cause
}

// mayBreak reports whether a fault can make a store break its word about a grant: what holds back requests to the data does not
// reach the store, and what a connection holds only the end of that connection takes away.
func (in Causes) mayBreak(f *history.Injection, g *history.Grant) bool {
	if in.Run.Ends == history.EndsConnection {
		return f.Disconnects(g)
	}
	return f.Family != history.FamilyClient && !f.Delays && f.Hurts(g.Client)
}

// faultOn is the fault of a kind that explains most of what happened between a grant's request
// and a moment: the one that was longest at work in that time or not got over.
func (in Causes) faultOn(g *history.Grant, until, began int64, kind func(*history.Injection) bool) *history.Injection {
	var found *history.Injection
	most := int64(0)
	for _, f := range in.Faults {
		if part, explains := in.touches(g, f, until, began); explains && kind(f) && part > most {
			found, most = f, part
		}
	}
	return found
}

// touches is for how long a fault was at work, or not got over, between a grant's request and a
// moment, and whether it can explain what began then: it took effect, struck before, and
// hurt servers that the grant needs.
func (in Causes) touches(g *history.Grant, f *history.Injection, until, began int64) (int64, bool) {
	if f.Began() >= began || !f.Effective() || (len(f.Clients) == 0 && !f.OfServersOf(g)) {
		return 0, false
	}
	part := history.Interval{From: g.Sent(), To: until + 1}.Overlap(f.Aftermath(in.Run.Recovery))
	return part.To - part.From, !part.Empty()
}

// FaultCause returns a fault as a cause.
func FaultCause(f *history.Injection) checker.Cause {
	c := checker.Cause{Kind: checker.CauseFault, Text: describeFault(f), Fault: f.ID, Began: f.Began()}
	if f.Effect != nil {
		c.Proven = f.Effect.Time
	}
	if f.HealEnd != nil {
		c.Ended = f.Until()
	}
	return c
}

func overrun(g *history.Grant, until int64) checker.Cause {
	if d := g.DeadlineAt(until); d.Set && until >= d.V {
		return checker.Cause{Kind: checker.CauseOverrun, Text: "overrun: the client worked longer than its lease lasted"}
	}
	return checker.NoCause
}

// describeFault names a fault as people would: what, whom, where, when.
func describeFault(f *history.Injection) string {
	text := fmt.Sprintf("fault #%d: %s", f.ID, f.Fault.Fault)
	if whom := checker.Joined(f.Clients, f.Nodes); whom != "" {
		text += " on " + whom
	}
	text += activeTime(f)
	if trigger := checker.Trigger(f.Fault); trigger != "" {
		text += ", triggered " + trigger
	}
	if f.Gradual() {
		text += ", effect observed at " + checker.Seconds(f.Effect.Time)
	}
	if f.Proof != "" && f.Family != history.FamilyClient {
		text += " (" + f.Proof + ")"
	}
	return text
}

// activeTime says when a fault struck, and until when it was at work.
func activeTime(f *history.Injection) string {
	switch from := checker.Seconds(f.Began()); {
	case f.Effect == nil:
		return ", requested at " + from
	case f.HealEnd != nil:
		return fmt.Sprintf(", active from %s to %s", from, checker.Seconds(f.Until()))
	case f.Instant():
		return " at " + from
	default:
		return ", active from " + from + " on"
	}
}
