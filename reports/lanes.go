package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// How many clients and servers have a row of their own, and clients where a picture is about
// a few of them; the others share one.
const (
	maxClients = 20
	maxAround  = 10
	maxServers = 10
)

// layLanes gives a row to every client and every server that has something to show. Where
// there are too many, those of the worst findings have their own.
func (p *painter) layLanes() {
	active := p.active()
	var clients []string
	for client := range p.rec.Last {
		if active[client] {
			clients = append(clients, client)
		}
	}
	limit := maxClients
	if p.only != nil {
		limit = max(maxAround, len(p.only))
	}
	p.lay("clients", clients, min(limit, maxClients))
	p.lay("servers", p.servers(), maxServers)
	p.t.Height = laneTop + len(p.t.Lanes)*laneHeight + 10
}

// servers are those with something to show: all, but in a picture of an incident only those of which something is known.
func (p *painter) servers() []string {
	all := serversOf(p.rec)
	if p.only == nil {
		return all
	}
	known := map[string]bool{}
	for _, e := range slices.Concat(p.rec.Roles, p.rec.Deaths) {
		known[e.Node] = true
	}
	for _, in := range p.rec.Faults {
		for _, n := range in.Nodes {
			known[n] = true
		}
	}
	return slices.DeleteFunc(all, func(n string) bool { return !known[n] })
}

// lay gives rows to parties of a kind: to the first by rank, in order of their names. Nobody
// shares a row with himself alone.
func (p *painter) lay(kind string, parties []string, limit int) {
	if len(parties) == limit+1 {
		limit++
	}
	slices.SortFunc(parties, p.before)
	own, others := parties[:min(len(parties), limit)], parties[min(len(parties), limit):]
	own = slices.Clone(own)
	slices.SortFunc(own, byName)
	for _, party := range own {
		p.lanes[party] = p.row(party)
	}
	if len(others) == 0 {
		return
	}
	name := fmt.Sprintf("%d others", len(others))
	y := p.row(name)
	for _, party := range others {
		p.lanes[party] = y
	}
	p.t.Folded += fmt.Sprintf("Of %d %s, the %d with the worst findings have a row each; the other %d share the row \"%s\". ",
		len(parties), kind, len(own), len(others), name)
}

func (p *painter) row(name string) int {
	y := laneTop + len(p.t.Lanes)*laneHeight
	p.t.Lanes = append(p.t.Lanes, Lane{Name: name, Y: y})
	p.names[y] = name
	return y
}

// byName sorts c2 before c10.
func byName(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// before sorts by rank, then by name.
func (p *painter) before(a, b string) int {
	rank := func(party string) int {
		if n, ok := p.rank[party]; ok {
			return n
		}
		return math.MaxInt
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), byName(a, b))
}

// ranked numbers the parties by how much there is to see of them: those of the incidents,
// the worst first, of all other findings, then those that a fault hurt.
func ranked(r *checker.Results, rec *history.Record, s *Story) map[string]int {
	rank := map[string]int{}
	add := func(party string) {
		if _, ok := rank[party]; !ok {
			rank[party] = len(rank)
		}
	}
	finding := func(f *checker.Finding) {
		for _, g := range grantsOf(rec, f) {
			add(g.Client)
		}
	}
	for i := range s.Incidents {
		finding(&s.Incidents[i].Finding)
	}
	for _, name := range telling(r) {
		for i := range r.Checks[name].Findings {
			finding(&r.Checks[name].Findings[i])
		}
	}
	for _, in := range rec.Faults {
		for _, party := range slices.Concat(in.Clients, in.Nodes) {
			add(party)
		}
	}
	return rank
}

// active are the clients that the picture is about, and who was inside meanwhile.
func (p *painter) active() map[string]bool {
	out := map[string]bool{}
	window := history.Interval{From: p.from, To: p.to}
	for _, g := range p.rec.Grants {
		switch {
		case out[g.Client] || g.Acquire == nil:
		case p.only != nil && !slices.Contains(p.only, g.Client):
			out[g.Client] = (p.locks == nil || p.locks[g.Lock]) && !p.facts().Hold(g).Overlap(window).Empty()
		default:
			out[g.Client] = g.Acquire.Start() <= p.to && p.rec.Last[g.Client] >= p.from
		}
	}
	return out
}
