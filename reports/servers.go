package reports

import (
	"github.com/lockstorm/lockstorm/history"
)

// tenure is a time in which a server said the same of itself.
type tenure struct {
	node, role string
	event      int64 // that says so
	history.Interval
}

// tenures are in order of their beginning; the last of each server is open.
func tenures(rec *history.Record) []tenure {
	var out []tenure
	open := map[string]int{}
	for _, e := range rec.Roles {
		var role string
		if e.Value.Into(&role) != nil {
			continue
		}
		if i, ok := open[e.Node]; ok {
			out[i].To = e.Time
		}
		open[e.Node] = len(out)
		out = append(out, tenure{e.Node, role, e.Index, history.Interval{From: e.Time, To: history.Forever}})
	}
	return out
}

// serverSteps tells, for a part of the run, which servers died and which called
// themselves master.
func serverSteps(rec *history.Record, span history.Interval) []Step {
	var out []Step
	for _, e := range rec.Deaths {
		if span.From <= e.Time && e.Time <= span.To {
			out = append(out, Step{At: e.Time, Party: e.Node, Kind: StepDeath, Events: []int64{e.Index}, Text: e.Node + " is killed."})
		}
	}
	all := tenures(rec)
	for _, t := range all {
		if history.Leads(t.role) && span.From <= t.From && t.From <= span.To {
			out = append(out, Step{At: t.From, Party: t.node, Kind: StepRole, Events: []int64{t.event}, Text: masterText(t, all)})
		}
	}
	return out
}

// masterText says that a server calls itself master, and who else did at that moment.
func masterText(t tenure, all []tenure) string {
	text := t.node + " is first seen as " + t.role
	for _, other := range all {
		if history.Leads(other.role) && other.node != t.node && !other.Overlap(history.Interval{From: t.From, To: t.From + 1}).Empty() {
			text += "; at that moment " + other.node + " is also " + other.role
		}
	}
	return text + "."
}
