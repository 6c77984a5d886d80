package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

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

// drawServers draws what each server was in the whole run: what it said of itself; where it
// never did, what faults found it to be, and when it was dead.
func (p *painter) drawServers() {
	told := map[string]bool{}
	for _, t := range tenures(p.rec) {
		told[t.node] = true
		p.standing(t.node, t.role, t.Interval, "the record shows this role since "+moment(t.From))
	}
	for _, node := range slices.SortedFunc(maps.Keys(p.lanes), byName) {
		if _, client := p.rec.Last[node]; !client && !told[node] {
			p.silent(node)
		}
	}
}

// silent draws a server that never says what it is.
func (p *painter) silent(node string) {
	whole := history.Interval{To: history.Forever}
	var found []tenure
	for _, in := range p.rec.Faults {
		role := in.Roles[node]
		if role == "" || (len(found) > 0 && found[len(found)-1].role == role) {
			continue
		}
		if len(found) > 0 {
			found[len(found)-1].To = in.Invoke.Time
			whole.From = in.Invoke.Time
		}
		found = append(found, tenure{node: node, role: role, event: in.Invoke.Time, Interval: whole})
	}
	for _, t := range found {
		p.standing(node, t.role, t.Interval, "the server had this role at "+moment(t.event)+", when a fault was injected")
	}
	if len(found) == 0 {
		p.standing(node, "", whole, "the record does not show the role of this server")
	}
	for _, e := range p.rec.Deaths {
		if e.Node == node {
			p.standing(node, history.RoleDown, history.Interval{From: e.Time, To: p.backAfter(e)}, "killed at "+moment(e.Time))
		}
	}
}

// backAfter is when the fault that killed a server was healed.
func (p *painter) backAfter(death *history.Event) int64 {
	for _, in := range p.rec.Faults {
		if in.HealEnd != nil && slices.Contains(in.Nodes, death.Node) && in.Invoke.Time <= death.Time && death.Time <= in.HealEnd.Time {
			return in.HealEnd.Time
		}
	}
	return history.Forever
}

// roleClasses are the roles that have a colour of their own; all others share one.
var roleClasses = map[string]string{
	history.RoleMaster: "master", history.RoleLeader: "master", history.RoleReplica: "replica", history.RoleFollower: "replica",
	history.RoleDown: "down", "": "server",
}

// standing draws a server in one role, with the role's name on it where there is room.
func (p *painter) standing(node, role string, span history.Interval, how string) {
	y, ok := p.lanes[node]
	if !ok || span.To < p.from || span.From > p.to {
		return
	}
	x := p.x(span.From)
	label := cmp.Or(role, "server")
	it := item{from: max(span.From, p.from), to: min(span.To, p.to), x: x, end: max(p.x(span.To), x+1), label: label}
	it.text = func() string { return fmt.Sprintf("%s: %s, %s", node, label, how) }
	top, height := float64(y)+7, 14.0
	if role == "" {
		top, height, it.label = float64(y)+12.5, 3, ""
	}
	p.track(kindRect, cmp.Or(roleClasses[role], "role"), p.names[y], top, height).add(it)
}
