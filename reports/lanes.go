package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// How many clients and servers have a row of their own; the others share one.
const (
	maxClients = 20
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
	p.lay("clients", clients, maxClients)
	p.lay("servers", serversOf(p.rec), maxServers)
	p.t.Height = laneTop + len(p.t.Lanes)*laneHeight + 10
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

// active are the clients with something to show.
func (p *painter) active() map[string]bool {
	out := map[string]bool{}
	for _, g := range p.rec.Grants {
		if !out[g.Client] && g.Acquire != nil {
			out[g.Client] = g.Acquire.Start() <= p.to && p.rec.Last[g.Client] >= p.from
		}
	}
	return out
}
