package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// cause is why a client acted too late, or why a store forgot.
type cause struct {
	text    string
	unasked bool // a hiccup of the host, not of our making
}

// unplanned reports whether a stall has no fault of ours as its reason, and how long it
// was.
func (in *Input) unplanned(e *history.Event) (late int64, ok bool) {
	var s history.Stall
	if e.Value.Into(&s) != nil {
		return 0, false
	}
	gap := history.Interval{From: e.Time - s.Late, To: e.Time}
	for _, f := range in.Faults {
		if slices.Contains(f.Clients, e.Party) && !gap.Overlap(f.Span()).Empty() {
			return s.Late, false
		}
	}
	return s.Late, true
}

// causeOf finds what hurt a grant's client or its store between its grant and a moment:
// the last fault that touched it, else a stall of the host, else an overrun.
func (in *Input) causeOf(g *history.Grant, until int64) cause {
	if f := in.faultOn(g, until, anyFamily); f != nil {
		return cause{text: describeFault(f)}
	}
	if c, ok := in.stallOf(g, until); ok {
		return c
	}
	return overrun(g, until)
}

// lateCause finds why a client acted after its lease had run out. Only what delays the
// client itself explains that: a fault of the client, else a stall of the host, which
// nobody asked for, and only then anything else.
func (in *Input) lateCause(g *history.Grant, until int64) cause {
	if f := in.faultOn(g, until, history.FamilyClient); f != nil {
		return cause{text: describeFault(f)}
	}
	if c, ok := in.stallOf(g, until); ok {
		return c
	}
	return in.causeOf(g, until)
}

const anyFamily = ""

// faultOn is the last effective fault that touched a grant's client, or the servers.
func (in *Input) faultOn(g *history.Grant, until int64, family string) *history.Injection {
	span := history.Interval{From: g.Sent(), To: until + 1}
	var found *history.Injection
	for _, f := range in.Faults {
		if f.Family == history.FamilyClient && !slices.Contains(f.Clients, g.Client) {
			continue
		}
		if (family == anyFamily || f.Family == family) && f.Effective() && !span.Overlap(f.Span()).Empty() {
			found = f
		}
	}
	return found
}

// stallOf is an unplanned stall of the grant's client, or of the whole host.
func (in *Input) stallOf(g *history.Grant, until int64) (cause, bool) {
	span := history.Interval{From: g.Sent(), To: until + 1}
	for _, e := range in.Stalls {
		late, ok := in.unplanned(e)
		if ok && (e.Party == g.Client || e.Party == "controller") && !span.Overlap(history.Interval{From: e.Time - late, To: e.Time}).Empty() {
			return cause{text: fmt.Sprintf("unplanned stall of %s in %s", ms(late), e.Party), unasked: true}, true
		}
	}
	return cause{}, false
}

func overrun(g *history.Grant, until int64) cause {
	if d := g.DeadlineAt(until); d.Set && until >= d.V {
		return cause{text: "overrun: the client took longer than its lease"}
	}
	return cause{text: "none found"}
}

// describeFault names a fault as people would: what, whom, where, when.
func describeFault(f *history.Injection) string {
	text := fmt.Sprintf("%s #%d of %s at %s", f.Fault.Fault, f.ID, joined(f.Clients, f.Nodes), sec(f.Invoke.Time))
	if f.Point != "" {
		text += fmt.Sprintf(", tied to %s of %s", f.Point, f.By)
	}
	if until := f.Until(); until != history.Forever && f.HealEnd != nil {
		text += ", for " + ms(until-f.Effect.Time)
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
