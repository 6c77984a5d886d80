package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Cause is why a client acted too late, or why a store forgot.
type Cause struct {
	Kind  CauseKind
	Text  string // for people
	Fault int    // id of the fault that it is or comes of; 0: none
}

// unasked reports whether it was a hiccup of the host, not of our making.
func (c Cause) unasked() bool { return c.Kind == CauseStall }

// stall is a hiccup of the host that no fault of ours explains.
type stall struct {
	party string
	history.Interval
}

// unplannedStalls decodes the stalls on record and leaves out those of clients that a
// fault of ours held up at the time.
func (in *Input) unplannedStalls() []stall {
	var out []stall
	for _, e := range in.Stalls {
		var s history.Stall
		if e.Value.Into(&s) != nil {
			continue
		}
		gap := history.Interval{From: e.Time - s.Late, To: e.Time}
		planned := slices.ContainsFunc(in.Faults, func(f *history.Injection) bool {
			return f.Family == history.FamilyClient && slices.Contains(f.Clients, e.Party) && !gap.Overlap(f.Span()).Empty()
		})
		if !planned {
			out = append(out, stall{e.Party, gap})
		}
	}
	slices.SortFunc(out, func(a, b stall) int { return cmp.Compare(a.From, b.From) })
	return out
}

// stalled is for how much of a span a client, or with an empty name anybody, was held up
// by the host: stalls that overlap count once. Those of the controller's process count
// for everybody.
func (in *Input) stalled(client string, span history.Interval) (sum int64) {
	end := span.From
	for _, s := range in.stalls {
		if client != "" && s.party != client && history.ClientOf(s.party) != "" {
			continue
		}
		if part := s.Overlap(history.Interval{From: end, To: span.To}); !part.Empty() {
			sum += part.To - part.From
			end = part.To
		}
	}
	return sum
}

// CauseOf finds what hurt a grant's client or its store between its grant and a moment:
// the last fault that touched it, else an overrun.
func (in *Input) CauseOf(g *history.Grant, until int64) Cause {
	if f := in.faultOn(g, until, func(f *history.Injection) bool { return f.Hurts(g.Client) }); f != nil {
		return faultCause(f)
	}
	return overrun(g, until)
}

// lateCause finds why a client acted after its lease had run out. Only what delays the
// client itself explains that: a fault of the client, or a stall of the host that nobody
// asked for and that is as long as the client was late.
func (in *Input) lateCause(g *history.Grant) Cause {
	until := in.Hold(g).To
	if f := in.faultOn(g, until, func(f *history.Injection) bool { return f.Late(g.Client) }); f != nil {
		return faultCause(f)
	}
	if d := g.DeadlineAt(until); d.Set {
		held := in.stalled(g.Client, history.Interval{From: g.Sent(), To: until})
		if held > 0 && held >= until-d.V-in.Run.Tolerance {
			return Cause{Kind: CauseStall, Text: fmt.Sprintf("unplanned stall of the host, which held %s up for %s", g.Client, Millis(held))}
		}
	}
	return in.CauseOf(g, until)
}

// faultOn is the last effective fault of a kind that was at work, or had not been got over,
// while a grant was.
func (in *Input) faultOn(g *history.Grant, until int64, kind func(*history.Injection) bool) *history.Injection {
	span := history.Interval{From: g.Sent(), To: until + 1}
	var found *history.Injection
	for _, f := range in.Faults {
		if kind(f) && f.Effective() && !span.Overlap(f.Aftermath(in.Run.Recovery)).Empty() {
			found = f
		}
	}
	return found
}

func faultCause(f *history.Injection) Cause {
	return Cause{Kind: CauseFault, Text: describeFault(f), Fault: f.ID}
}

func overrun(g *history.Grant, until int64) Cause {
	if d := g.DeadlineAt(until); d.Set && until >= d.V {
		return Cause{Kind: CauseOverrun, Text: "overrun: the client took longer than its lease"}
	}
	return noCause
}

var noCause = Cause{Kind: CauseNone, Text: "none found"}

// describeFault names a fault as people would: what, whom, where, when.
func describeFault(f *history.Injection) string {
	text := fmt.Sprintf("%s #%d", f.Fault.Fault, f.ID)
	if whom := joined(f.Clients, f.Nodes); whom != "" {
		text += " of " + whom
	}
	if f.Gradual() {
		text += ", begun at " + Seconds(f.Invoke.Time)
	}
	switch {
	case f.Effect == nil:
		text += ", asked for at " + Seconds(f.Invoke.Time)
	case f.HealEnd == nil:
		text += ", in effect from " + Seconds(f.Effect.Time)
	default:
		text += fmt.Sprintf(", in effect from %s to %s", Seconds(f.Effect.Time), Seconds(f.HealEnd.Time))
	}
	if f.Proof != "" && f.Family != history.FamilyClient {
		text += " (" + f.Proof + ")"
	}
	if f.Point != "" {
		text += fmt.Sprintf(", tied to %s of %s", f.Point, f.By)
	}
	return text
}

func joined(a, b []string) string {
	all := slices.Concat(a, b)
	text := ""
	for i, s := range all {
		if i > 0 {
			text += ", "
		}
		text += s
	}
	return text
}
