package search

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

// sweep is what is tried before anything is varied: each fault alone, as it is by default, and of most servers where a majority decides; and then
// each at each of the lock's own points, or, where it names none, at one of its first messages.
func (s *Space) sweep() (all []Gene) {
	with := func(param, value string) {
		for _, f := range s.faults {
			if slices.ContainsFunc(f.Params, func(p catalog.Param) bool { return p.Name == param && p.Default != value }) {
				all = append(all, Gene{Name: f.Name, Params: map[string]string{param: value}})
			}
		}
	}
	for _, f := range inTurn(s.faults) {
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

// Alone is a genome of one fault, and of a run that is long enough for what it does by default.
func (s *Space) Alone(rnd *rand.Rand, fault Gene) (Genome, bool) {
	return s.draw(rnd, func() Genome {
		return Genome{Clients: mostClients - rnd.IntN(3), Locks: 1, Time: (3 * s.ttl).Round(100 * time.Millisecond), Workload: Gene{Name: "counter"}, Faults: []Gene{fault}}
	})
}
