package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// The roles that are worth a line or a colour.
const (
	roleMaster = "master"
	roleDown   = "down"
)

// serversOf are the servers that have something to show: those that a fault hurt, and
// those that said what they are.
func serversOf(rec *history.Record) []string {
	var names []string
	for _, in := range rec.Faults {
		if in.Effective() {
			names = append(names, in.Nodes...)
		}
	}
	for _, e := range slices.Concat(rec.Roles, rec.Deaths) {
		names = append(names, e.Node)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return slices.Compact(names)
}

// tenure is a time in which a server said the same of itself.
type tenure struct {
	node, role string
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
		out = append(out, tenure{e.Node, role, history.Interval{From: e.Time, To: history.Forever}})
	}
	return out
}

// serverStory tells, for a part of the run, which servers died and which called
// themselves master.
func serverStory(rec *history.Record, span history.Interval) []line {
	var out []line
	for _, e := range rec.Deaths {
		if span.From <= e.Time && e.Time <= span.To {
			out = append(out, line{e.Time, e.Node + " is killed."})
		}
	}
	for _, t := range tenures(rec) {
		if t.role != roleMaster || t.From < span.From || t.From > span.To {
			continue
		}
		text := "by now " + t.node + " says that it is master"
		for _, other := range tenures(rec) {
			if other.role == roleMaster && other.node != t.node && !other.Overlap(history.Interval{From: t.From, To: t.From + 1}).Empty() {
				text += ", and so does " + other.node
			}
		}
		out = append(out, line{t.From, text + "."})
	}
	return out
}

// drawServers draws what the servers said of themselves, and their deaths.
func (p *painter) drawServers() {
	for _, t := range tenures(p.rec) {
		y, ok := p.lanes[t.node]
		if !ok || (t.role != roleMaster && t.role != roleDown) {
			continue
		}
		p.span(t.role, t.From, t.To, float64(y)+10, 8, fmt.Sprintf("%s: %s from %s on", t.node, t.role, at(t.From)))
	}
	for _, e := range p.rec.Deaths {
		if y, ok := p.lanes[e.Node]; ok {
			p.mark("cross", "kill", e.Time, float64(y+14), e.Node+" is killed", "killed")
		}
	}
}
