package search

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// Genome is what the search varies of a run. As JSON it is an entry of the corpus.
type Genome struct {
	Faults []Gene `json:"faults"`
	// Options are those of the lock that are not as they were given.
	Options  map[string]string `json:"options,omitempty"`
	Workload Gene              `json:"workload"`
	Clients  int               `json:"clients"`
	Locks    int               `json:"locks"`
	Time     time.Duration     `json:"time_ns"`
	Seed     uint64            `json:"seed"`
}

// Gene is a fault or a workload with the parameters that are not the default.
type Gene struct {
	Name   string            `json:"name"`
	Params map[string]string `json:"params,omitempty"`
}

// String is the gene as a flag has it.
func (g Gene) String() string {
	parts := lists.Map(slices.Sorted(maps.Keys(g.Params)), func(k string) string { return k + "=" + g.Params[k] })
	if len(parts) == 0 {
		return g.Name
	}
	return g.Name + ":" + strings.Join(parts, ",")
}

// Config is the run of a genome; base says the rest.
func (g Genome) Config(base harness.Config) harness.Config {
	base.Nemesis = nil
	for _, f := range g.Faults {
		base.Nemesis = append(base.Nemesis, f.String())
	}
	if len(g.Faults) == 0 {
		base.Nemesis = []string{"none"}
	}
	base.Backend = with(base.Backend, g.Options)
	base.Workload, base.Clients, base.Locks, base.Time, base.Seed = g.Workload.String(), g.Clients, g.Locks, g.Time, g.Seed
	return base
}

// with is a backend, as it was given, with other options.
func with(backend string, options map[string]string) string {
	if len(options) == 0 {
		return backend
	}
	g := given(backend)
	maps.Copy(g.Params, options)
	return g.String()
}

// given is a lock with the options that it was given.
func given(backend string) Gene {
	name, rest := catalog.Split(backend)
	g := Gene{Name: name, Params: map[string]string{}}
	for pair := range strings.SplitSeq(rest, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			g.Params[key] = value
		}
	}
	return g
}

func (g Genome) clone() Genome {
	g.Faults, g.Options = slices.Clone(g.Faults), maps.Clone(g.Options)
	for i := range g.Faults {
		g.Faults[i].Params = maps.Clone(g.Faults[i].Params)
	}
	g.Workload.Params = maps.Clone(g.Workload.Params)
	return g
}

func pick[T any](rnd *rand.Rand, all []T) T { return all[rnd.IntN(len(all))] }

// plainLoad is the workload of a run for which no other one was chosen.
const plainLoad = "counter"

// attempts is how often a genome is drawn until it is one that can be run.
const attempts = 50

// draw makes genomes until one can be run.
func (s *Space) draw(rnd *rand.Rand, next func() Genome) (g Genome, ok bool) {
	for range attempts {
		g = next()
		g.Seed = 1 + rnd.Uint64N(1<<31)
		if harness.Check(s.cat, g.Config(s.base)) == nil {
			return g, true
		}
	}
	return g, false
}

// Fresh is a genome of its own: one fault mostly, and short.
func (s *Space) Fresh(rnd *rand.Rand) (Genome, bool) {
	return s.draw(rnd, func() Genome {
		g := Genome{
			Clients: fewest + rnd.IntN(mostClients-fewest+1), Locks: 1, Time: s.quick() + time.Duration(rnd.IntN(4))*s.ttl/2,
			Workload: Gene{Name: plainLoad},
		}
		if rnd.IntN(4) == 0 {
			g.Workload = s.load(rnd)
		}
		for n := 1 + rnd.IntN(4)/3; n > 0 && len(s.faults) > 0; n-- {
			g.Faults = append(g.Faults, s.fault(rnd))
		}
		if len(s.options) > 0 && rnd.IntN(2) == 0 {
			s.option(rnd, &g)
		}
		return g
	})
}

// option changes an option of the lock.
func (s *Space) option(rnd *rand.Rand, g *Genome) {
	of := Gene{Params: g.Options}
	s.param(rnd, &of, s.options)
	g.Options = of.Params
}

// has reports whether a genome is one of the space.
func (s *Space) has(g Genome) bool {
	for name := range g.Options {
		if !slices.ContainsFunc(s.options, func(p catalog.Param) bool { return p.Name == name }) {
			return false
		}
	}
	return !slices.ContainsFunc(g.Faults, func(f Gene) bool { return !slices.Contains(s.Faults(), f.Name) })
}

// fault is a random one, with a few parameters that are not the default.
func (s *Space) fault(rnd *rand.Rand) Gene {
	spec := pick(rnd, s.faults)
	g := Gene{Name: spec.Name, Params: map[string]string{}}
	for range rnd.IntN(4) {
		s.param(rnd, &g, spec.Params)
	}
	return g
}

func (s *Space) load(rnd *rand.Rand) Gene {
	g := Gene{Name: pick(rnd, s.loads), Params: map[string]string{}}
	if w, err := s.cat.Workloads.Get(g.Name); err == nil {
		for range rnd.IntN(3) {
			s.param(rnd, &g, varied(w.Params))
		}
	}
	return g
}

func varied(all []catalog.Param) []catalog.Param {
	return slices.DeleteFunc(slices.Clone(all), func(p catalog.Param) bool { return slices.Contains(fixed, p.Name) })
}

// param changes a parameter of a gene, or gives it back its default.
func (s *Space) param(rnd *rand.Rand, g *Gene, all []catalog.Param) {
	if len(all) == 0 {
		return
	}
	p := pick(rnd, all)
	if g.Params == nil {
		g.Params = map[string]string{}
	}
	if _, set := g.Params[p.Name]; set && rnd.IntN(3) == 0 {
		delete(g.Params, p.Name)
		return
	}
	values := s.valuesOf(p)
	if len(values) == 0 {
		return
	}
	g.Params[p.Name] = pick(rnd, values)
	switch at := g.Params["at"]; {
	case p.Name == "message" && !history.IsMessagePoint(at): // it is one of a point
		g.Params["at"] = pick(rnd, s.carried)
	case p.Name == "at" && !history.IsMessagePoint(at):
		delete(g.Params, "message")
	}
}

// Change is a genome that differs from its parent in one thing or a few; other is a second parent of which it may have faults.
func (s *Space) Change(rnd *rand.Rand, parent, other Genome) (Genome, bool) {
	return s.draw(rnd, func() Genome {
		g := parent.clone()
		for range 1 + rnd.IntN(3) {
			if len(s.options) > 0 && rnd.IntN(6) == 0 {
				s.option(rnd, &g)
			} else {
				s.change(rnd, &g, other)
			}
		}
		return g
	})
}

func (s *Space) change(rnd *rand.Rand, g *Genome, other Genome) {
	switch n := rnd.IntN(12); {
	case n < 5 && len(g.Faults) > 0:
		f := &g.Faults[rnd.IntN(len(g.Faults))]
		if spec, err := s.cat.Nemeses.Get(f.Name); err == nil {
			s.param(rnd, f, spec.Params)
		}
	case n == 5 && len(g.Faults) < mostFaults && len(s.faults) > 0:
		g.Faults = append(g.Faults, s.fault(rnd))
	case n == 6 && len(g.Faults) < mostFaults && len(other.Faults) > 0:
		g.Faults = append(g.Faults, other.clone().Faults[rnd.IntN(len(other.Faults))])
	case n == 7 && len(g.Faults) > 1:
		i := rnd.IntN(len(g.Faults))
		g.Faults = slices.Delete(g.Faults, i, i+1)
	case n == 8:
		g.Clients = fewest + rnd.IntN(mostClients-fewest+1)
	case n == 9:
		if w, err := s.cat.Workloads.Get(g.Workload.Name); err == nil && rnd.IntN(3) > 0 {
			s.param(rnd, &g.Workload, varied(w.Params))
		} else {
			g.Workload = s.load(rnd)
		}
	case n == 10:
		g.Time = min(max(g.Time*time.Duration(2+rnd.IntN(5))/4, s.quick()), s.longest()).Round(100 * time.Millisecond)
	case n == 11 && rnd.IntN(3) == 0:
		g.Locks = pick(rnd, amounts)
	default: // the same again, with another seed
	}
}

// String says it in short.
func (g Genome) String() string {
	faults := lists.Map(g.Faults, func(f Gene) string { return f.String() })
	text := fmt.Sprintf("%s; %s; %d clients; %v", cmp.Or(strings.Join(faults, " + "), "no fault"), g.Workload, g.Clients, g.Time)
	if g.Locks > 1 {
		text += fmt.Sprintf("; %d locks", g.Locks)
	}
	if len(g.Options) > 0 {
		text += "; " + strings.TrimPrefix(Gene{Params: g.Options}.String(), ":")
	}
	return text
}
