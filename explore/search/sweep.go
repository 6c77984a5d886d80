package search

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

// sweep is what is tried before anything is varied: each fault as it is by default, and of most servers where a majority decides; and then
// each at each of the lock's own points, or, where it names none, at one of its first messages.
func (s *Space) sweep() (all []Gene) {
	faults := inTurn(s.faults)
	with := func(param, value string) {
		for _, f := range faults {
			if slices.ContainsFunc(f.Params, func(p catalog.Param) bool { return p.Name == param && p.Default != value }) {
				all = append(all, Gene{Name: f.Name, Params: map[string]string{param: value}})
			}
		}
	}
	for _, f := range faults {
		all = append(all, Gene{Name: f.Name})
	}
	if s.many {
		with("nodes", nemesis.RoleMajority)
	}
	where := s.own
	if len(where) == 0 {
		where = s.carried
	}
	for _, point := range where {
		with("at", point)
	}
	return all
}

// packed are faults in the order in which they are tried first: the first of each family alone, and the others a few at a time, each of another
// family. Most faults show nothing, and a run with three of them says so three times as fast. One may hide what another would show: so each of
// these is tried alone, too, but later.
func (s *Space) packed(all []Gene) (packs [][]Gene, later []Gene) {
	families, seen := map[string]string{}, map[string]bool{}
	for _, f := range s.faults {
		families[f.Name] = f.Family
	}
	first := func(g Gene) bool { return len(g.Params) == 0 && !seen[families[g.Name]] }
	var pack []Gene
	for _, g := range all {
		if first(g) {
			seen[families[g.Name]] = true
			packs = append(packs, []Gene{g})
			continue
		}
		later = append(later, g)
		if len(pack) == mostFaults || slices.ContainsFunc(pack, func(other Gene) bool { return families[other.Name] == families[g.Name] }) {
			packs, pack = append(packs, pack), nil
		}
		pack = append(pack, g)
	}
	if len(pack) > 0 {
		packs = append(packs, pack)
	}
	return packs, later
}

// Shortest is how long a search must last at least for its first run to end.
func (s *Space) Shortest() time.Duration { return 5*s.ttl + 2*time.Second }

// inTurn is one fault of each family after the other: what a lock does not stand is mostly of one family.
func inTurn(all []nemesis.Spec) (out []nemesis.Spec) {
	seen, turns := map[string]int{}, map[string]int{}
	for _, f := range all {
		turns[f.Name] = seen[f.Family]
		seen[f.Family]++
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b nemesis.Spec) int { return cmp.Compare(turns[a.Name], turns[b.Name]) })
}

// Together is a genome of faults, and of a run that is long enough for what they do by default.
func (s *Space) Together(rnd *rand.Rand, faults ...Gene) (Genome, bool) {
	return s.draw(rnd, func() Genome {
		return Genome{Clients: mostClients - rnd.IntN(3), Locks: 1, Time: (3 * s.ttl).Round(100 * time.Millisecond), Workload: Gene{Name: "counter"}, Faults: faults}
	})
}
