package search

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

// sweep returns the runs to try before anything is varied: of a lock that extends its leases, one in which it cannot; those that
// only locks of this model have; all faults with their defaults, and, where a majority decides, before each kind of them those
// at a majority; the other workloads and several locks without a fault; the tests of a lock that extends its own leases; and
// then the faults at each of the lock's own points, or, where it names none, at one of its first messages.
func (s *Space) sweep() (all []Genome) {
	first := s.grouped("", "")
	if s.many { // it stands what happens to one of its servers, or should: what happens to most of them tells more
		var both [][]Genome
		for i, most := range s.grouped("nodes", nemesis.RoleMajority) {
			both = append(both, most, first[i])
		}
		first = both
	}
	if s.renews && s.injects(cutOff.Name) {
		all = append(all, s.long(cutOff))
	}
	if s.mode != plainLoad {
		all = append(all, Genome{Workload: Gene{Name: s.mode}})
	}
	all = append(all, merged(first)...)
	for _, load := range s.loads {
		if load != plainLoad && load != s.mode {
			all = append(all, Genome{Workload: Gene{Name: load}})
		}
	}
	all = append(all, Genome{Locks: severalLocks},
		Genome{Locks: manyLocks, Workload: Gene{plainLoad, map[string]string{"hold": "0.5ttl"}}})
	if s.renews {
		all = append(all, s.renewed()...)
	}
	where := s.own
	if len(where) == 0 {
		where = s.carried
	}
	for _, point := range where {
		all = append(all, merged(s.grouped("at", point))...)
	}
	return all
}

// kinds of faults share no run of the sweep: that a server lost its data would explain what a paused client does. Of a kind there
// are so many in a run; shrinking says which one it was. What holds a client or its writes back is alone: a client that was
// killed or cut off writes nothing late.
var kinds = []struct {
	atOnce int
	has    func(f nemesis.Spec) bool
}{
	{1, ofClients},
	{1, func(f nemesis.Spec) bool { return f.OfMaster }},
	// a store that forgets, or a clock
	{2, func(f nemesis.Spec) bool { return !ofClients(f) && !f.OfMaster && f.Family != history.FamilyLink }},
	{2, func(f nemesis.Spec) bool { return !ofClients(f) && !f.OfMaster && f.Family == history.FamilyLink }},
}

func ofClients(f nemesis.Spec) bool { return f.Family == history.FamilyClient || f.Delays }

// published are the faults of which most published failures of locks speak: they come first.
var published = []string{
	"client-pause", "packet-delay", "lost-reply", "partition-client", "server-restart", "power-loss", "clock-jump",
	"evict", "failover-kill", "leader-isolate",
}

// rank is where a fault comes among those of its kind. A lock that nothing ends but its release fails first by the death of its
// holder.
func (s *Space) rank(g Gene) int {
	if s.kept && g.Name == "client-kill" {
		return -1
	}
	if i := slices.Index(published, g.Name); i >= 0 {
		return i
	}
	return len(published)
}

// grouped are, for each kind, runs with all its faults that have a parameter, set to a value; without a parameter, with all as
// they are.
func (s *Space) grouped(param, value string) (lists [][]Genome) {
	for _, kind := range kinds {
		var genes []Gene
		for _, f := range inTurn(s.faults) {
			if !kind.has(f) || param != "" && !slices.ContainsFunc(f.Params, func(p catalog.Param) bool {
				return p.Name == param &&
					p.Default != value
			}) {
				continue
			}
			g := Gene{Name: f.Name}
			if param != "" {
				g.Params = map[string]string{param: value}
			}
			genes = append(genes, g)
		}
		slices.SortStableFunc(genes, func(a, b Gene) int { return cmp.Compare(s.rank(a), s.rank(b)) })
		var list []Genome
		runs := (len(genes) + kind.atOnce - 1) / kind.atOnce
		for first := range runs {
			var g Genome
			for i := first; i < len(genes); i += runs {
				g.Faults = append(g.Faults, genes[i])
			}
			if s.possible(func(c *harness.Config) { c.Nemesis = g.Config(s.base).Nemesis }) {
				list = append(list, g)
				continue
			}
			for _, alone := range g.Faults {
				list = append(list, Genome{Faults: []Gene{alone}})
			}
		}
		lists = append(lists, list)
	}
	return lists
}

// merged is one of each list after the other.
func merged(lists [][]Genome) (all []Genome) {
	for i := 0; ; i++ {
		before := len(all)
		for _, list := range lists {
			if i < len(list) {
				all = append(all, list[i])
			}
		}
		if len(all) == before {
			return all
		}
	}
}

// Numbers of locks: with two, a fault for one may hit the other; of many, each is new to its clients for a while.
const severalLocks, manyLocks = 2, 12

// amounts are the numbers of locks that a run may have.
var amounts = []int{1, severalLocks, manyLocks}

// sleeps and cutOff are faults that a lease does not outlast.
var (
	sleeps = Gene{Name: "client-pause", Params: map[string]string{"at": history.AtAcquired, "for": "3ttl"}}
	cutOff = Gene{Name: "partition-client", Params: map[string]string{"at": history.AtAcquired, "for": "3ttl", "mode": "blackhole"}}
)

// long is a run with a fault of the holder in the middle of its section, which is longer than a lease. There are too few grants
// to wait for one.
func (s *Space) long(f Gene) Genome {
	f.Params = maps.Clone(f.Params)
	f.Params["at"], f.Params["clients"] = history.AtRandom, nemesis.RoleHolder
	return Genome{Time: s.longest(), Workload: Gene{plainLoad, map[string]string{"hold": "3.5ttl"}}, Faults: []Gene{f}}
}

// renewed are runs in which a lease that its library extends ends all the same: in the middle of a section that is longer than
// it, and while the lock is asked for so rarely that nobody may hold it when its old holder is back. When that is hangs on
// chance: there are several. First a client dies in the queue: the next one may take its end for that of the holder, which stays
// for longer.
func (s *Space) renewed() (all []Genome) {
	if kill := "client-kill"; s.injects(kill) {
		all = append(all, Genome{
			Clients: mostClients, Time: s.longest(),
			Workload: Gene{plainLoad, map[string]string{"hold": "1.5ttl"}},
			Faults:   []Gene{{Name: kill, Params: map[string]string{"at": history.AtWaiting}}},
		})
	}
	if s.injects(sleeps.Name) {
		all = append(all, s.long(sleeps))
	}
	for _, f := range []Gene{sleeps, cutOff} {
		if !s.injects(f.Name) {
			continue
		}
		for range 3 {
			all = append(all, Genome{
				Clients: fewest, Time: s.longest(),
				Workload: Gene{plainLoad, map[string]string{"hold": "0.5ttl", "think": "3ttl"}}, Faults: []Gene{f},
			})
		}
	}
	return all
}

func (s *Space) injects(fault string) bool {
	return slices.ContainsFunc(s.faults, func(spec nemesis.Spec) bool { return spec.Name == fault })
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
	return slices.SortedStableFunc(slices.Values(all),
		func(a, b nemesis.Spec) int { return cmp.Compare(turns[a.Name], turns[b.Name]) })
}

// Swept is a genome of the sweep: a run that is long enough for what its faults do by default, where the genome does not say
// otherwise.
func (s *Space) Swept(rnd *rand.Rand, of Genome) (Genome, bool) {
	return s.draw(rnd, func() Genome {
		g := of.clone()
		g.Clients, g.Locks = cmp.Or(g.Clients, mostClients-rnd.IntN(3)), cmp.Or(g.Locks, 1)
		g.Time = cmp.Or(g.Time, (3 * s.ttl).Round(100*time.Millisecond))
		if g.Workload.Name == "" {
			g.Workload = Gene{Name: pick(rnd, []string{plainLoad, s.mode})}
		}
		return g
	})
}
