package search

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/points"
)

// sweep is what is tried before anything is varied: each fault alone, as it is by default; several locks without a fault; faults of most servers,
// where a majority decides; what a lock that extends its own leases has to stand; and then each fault at each of the lock's own points, or, where it
// names none, at one of its first messages.
func (s *Space) sweep() (all []Genome) {
	with := func(param, value string) {
		for _, f := range s.faults {
			if slices.ContainsFunc(f.Params, func(p catalog.Param) bool { return p.Name == param && p.Default != value }) {
				all = append(all, Genome{Faults: []Gene{{Name: f.Name, Params: map[string]string{param: value}}}})
			}
		}
	}
	for _, f := range inTurn(s.faults) {
		all = append(all, Genome{Faults: []Gene{{Name: f.Name}}})
	}
	all = append(all, Genome{Locks: severalLocks}, Genome{Locks: manyLocks, Workload: Gene{plainLoad, map[string]string{"hold": "0.5ttl"}}})
	if s.many {
		with("nodes", nemesis.RoleMajority)
	}
	if s.renews {
		all = append(all, s.renewed()...)
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

// Numbers of locks: with two, what is done to one may hit the other; of many, each is new to its clients for a while.
const severalLocks, manyLocks = 2, 12

// amounts are the numbers of locks that a run may have.
var amounts = []int{1, severalLocks, manyLocks}

// renewed are runs in which a lease that its library extends ends all the same: in the middle of a section that is longer than it, and while
// the lock is asked for so rarely that nobody may hold it when its old holder is back. When that is hangs on chance: there are several.
func (s *Space) renewed() (all []Genome) {
	for _, f := range []Gene{
		{Name: "client-pause", Params: map[string]string{"at": points.Acquired, "for": "3ttl"}},
		{Name: "partition-client", Params: map[string]string{"at": points.Acquired, "for": "3ttl", "mode": "blackhole"}},
	} {
		if !slices.ContainsFunc(s.faults, func(spec nemesis.Spec) bool { return spec.Name == f.Name }) {
			continue
		}
		all = append(all, Genome{Time: s.longest(), Workload: Gene{plainLoad, map[string]string{"hold": "2.5ttl"}}, Faults: []Gene{f}})
		for range 3 {
			all = append(all, Genome{Clients: fewest, Time: s.longest(), Workload: Gene{plainLoad, map[string]string{"hold": "0.5ttl", "think": "3ttl"}}, Faults: []Gene{f}})
		}
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

// Alone is a genome of the sweep: a run that is long enough for what its fault does by default, where it does not say otherwise.
func (s *Space) Alone(rnd *rand.Rand, of Genome) (Genome, bool) {
	return s.draw(rnd, func() Genome {
		g := of.clone()
		g.Clients, g.Locks = cmp.Or(g.Clients, mostClients-rnd.IntN(3)), cmp.Or(g.Locks, 1)
		g.Time = cmp.Or(g.Time, (3 * s.ttl).Round(100*time.Millisecond))
		if g.Workload.Name == "" {
			g.Workload = Gene{Name: plainLoad}
		}
		return g
	})
}
