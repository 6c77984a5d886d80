package reports

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
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
		if e.Value().Into(&role) != nil {
			continue
		}
		if i, ok := open[e.Node()]; ok {
			out[i].To = e.Time
		}
		open[e.Node()] = len(out)
		out = append(out, tenure{e.Node(), role, e.Index, history.Interval{From: e.Time, To: history.Forever}})
	}
	return out
}

// serverSteps tells, for a part of the run, which servers died and which called
// themselves master.
func serverSteps(rec *history.Record, span history.Interval) []Step {
	var out []Step
	for _, e := range rec.Deaths {
		if span.From <= e.Time && e.Time <= span.To {
			out = append(out, Step{At: e.Time, Party: e.Node(), Kind: StepDeath, Events: []int64{e.Index}, Text: e.Node() + " is killed."})
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

// byName sorts c2 before c10.
func byName(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// serversOf are all servers that the record names: those of the run, that said what they
// are, that a fault hurt, or that granted a lock.
func serversOf(rec *history.Record) []string {
	names := map[string]bool{}
	for _, node := range rec.Run.Nodes {
		names[node] = true
	}
	for _, in := range rec.Faults {
		for _, node := range in.Nodes {
			names[node] = true
		}
	}
	for _, e := range slices.Concat(rec.Roles, rec.Deaths) {
		names[e.Node()] = true
	}
	for i := range rec.Events {
		for _, node := range rec.Events[i].Nodes() {
			names[node] = true
		}
	}
	return slices.Collect(maps.Keys(names))
}

// endOf is the last moment of a run that there is something to say of.
func endOf(rec *history.Record) int64 {
	var end int64
	for _, t := range rec.Last {
		end = max(end, t)
	}
	for _, e := range slices.Concat(rec.Roles, rec.Deaths) {
		end = max(end, e.Time)
	}
	for _, in := range rec.Faults {
		end = max(end, in.Invoke.Time)
		if to := in.Until(); to < history.Forever {
			end = max(end, to)
		}
	}
	return end
}

// around is the time of a finding with all that its grants did.
func around(f *checker.Finding, rec *history.Record) history.Interval {
	span := history.Interval{From: f.From, To: f.To}
	for _, g := range grantsOf(rec, f) {
		if g.Acquire == nil {
			continue
		}
		span.From = min(span.From, g.Acquire.Start())
		for _, c := range slices.Concat(g.Uses, g.Releases) {
			span.To = max(span.To, c.Start())
		}
	}
	return span
}
