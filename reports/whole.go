package reports

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

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
		names[e.Node] = true
	}
	for i := range rec.Events {
		for _, node := range rec.Events[i].Nodes {
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
		span.From = min(span.From, g.Sent())
		for _, c := range slices.Concat(g.Uses, g.Releases) {
			span.To = max(span.To, c.Start())
		}
	}
	return span
}
