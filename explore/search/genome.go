package search

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/points"
)

// Genome is what the search varies of a run. As JSON it is an entry of the corpus.
type Genome struct {
	Faults   []Gene        `json:"faults"`
	Workload Gene          `json:"workload"`
	Clients  int           `json:"clients"`
	Locks    int           `json:"locks"`
	Time     time.Duration `json:"time_ns"`
	Seed     uint64        `json:"seed"`
}

// Gene is a fault or a workload with the parameters that are not the default.
type Gene struct {
	Name   string            `json:"name"`
	Params map[string]string `json:"params,omitempty"`
}

// String is the gene as a flag has it.
func (g Gene) String() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(g.Params)) {
		parts = append(parts, k+"="+g.Params[k])
	}
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
	base.Workload, base.Clients, base.Locks, base.Time, base.Seed = g.Workload.String(), g.Clients, g.Locks, g.Time, g.Seed
	return base
}

func (g Genome) clone() Genome {
	g.Faults = slices.Clone(g.Faults)
	for i := range g.Faults {
		g.Faults[i].Params = maps.Clone(g.Faults[i].Params)
	}
	g.Workload.Params = maps.Clone(g.Workload.Params)
	return g
}

// The bounds of what is varied: short runs find what long ones find, and more of them fit into an hour.
const (
	mostFaults  = 3
	fewest      = 2
	mostClients = 5
)

// quick and longest bound the time of a run: faults last for parts of the ttl, and what they do shows when a lease is over.
func (s *Space) quick() time.Duration   { return (s.ttl + s.ttl/2).Round(100 * time.Millisecond) }
func (s *Space) longest() time.Duration { return max(5*s.ttl, 5*time.Second) }

// blameless are workloads that can end badly with a lock that keeps every promise: handoff measures, two-locks can deadlock, and job does twice
// what takes less time than its clients' clocks differ.
var blameless = []string{"handoff", "two-locks", "job"}

// fixed are parameters of workloads that change what is asked of the lock, or how it must be used.
var fixed = []string{"bound", "token", "pair", "fence"}

// Space is what can be varied of the runs of a lock.
type Space struct {
	cat     *harness.Catalogue
	base    harness.Config
	ttl     time.Duration
	faults  []nemesis.Spec
	loads   []string
	points  []string
	own     []string            // points of the lock
	many    bool                // three servers or more hold data: a majority decides
	carried []string            // points of messages; none where there are no servers
	values  map[string][]string // of parameters that all faults share
}

// NewSpace finds out what the lock, its servers and this machine allow. With only, the faults are those of them; those without are left
// out.
func NewSpace(cat *harness.Catalogue, base harness.Config, only, without []string) (*Space, error) {
	for _, name := range slices.Concat(only, without) {
		if _, err := cat.Nemeses.Get(name); err != nil {
			return nil, &harness.Error{Code: harness.ExitUsage, Err: err}
		}
	}
	base.Nemesis, base.Clients, base.Time, base.Seed = []string{"none"}, fewest, time.Minute, 1
	t, err := harness.Resolve(cat, base)
	if err != nil {
		return nil, err
	}
	s := &Space{cat: cat, base: base, ttl: t.Config.TTL}
	if topology, err := cat.Topologies.Get(t.Config.Topology); err == nil {
		data := 0
		for _, n := range topology.Nodes {
			if n.Data {
				data++
			}
		}
		s.many = data > 2
	}
	s.base.Time = s.longest()
	code := s.allowed(only, without)
	for _, w := range cat.Workloads.All() {
		if !slices.Contains(blameless, w.Name) && s.possible(func(c *harness.Config) { c.Workload = w.Name }) { // it measures, and touches no data
			s.loads = append(s.loads, w.Name)
		}
	}
	if len(s.faults) == 0 {
		return nil, &harness.Error{Code: code, Err: fmt.Errorf("none of the faults that are left can be injected into runs of %s: change --only or --without", base.Backend)}
	}
	name, _ := catalog.Split(base.Backend)
	b, err := cat.Backends.Get(name)
	if err != nil {
		return nil, err
	}
	s.own = points.Names(b.Points)
	s.points = append(points.Names(points.Section()), s.own...)
	for range 2 { // a lock's own points are rarer than those of every critical section, and more telling
		s.points = append(s.points, s.own...)
	}
	if s.carries() {
		s.carried = points.Names(points.Carried())
		for range 2 { // each of them is many: its count says which message
			s.points = append(s.points, s.carried...)
		}
	}
	s.values = map[string][]string{
		"at": append([]string{"random"}, s.points...), "nth": {"1", "2", "3", "5", "8"}, "for": {"0.2ttl", "0.5ttl", "0.9ttl", "1.2ttl", "1.5ttl", "2.5ttl"},
		"every": {"0.5ttl", "1ttl", "1.7ttl", "2.5ttl"}, "clients": {"1", "holder", "all", "half", "c1", "c1+c2"}, "stay": {"0.3ttl", "0.9ttl", "1.5ttl"},
		"nodes": {"1", "2", "leader", "follower", "majority", "granted", "all"}, "grant": {"any", "all", "1", "2", "3"}, "until": {"granted"}, "while": {"1"},
	}
	return s, nil
}

// allowed finds the faults that can be injected here. The code is that of a search without any: that of this machine where another one could
// inject some.
func (s *Space) allowed(only, without []string) (code int) {
	code = harness.ExitUsage // of a search without faults
	for _, spec := range s.cat.Nemeses.All() {
		if spec.Fault == nil || len(only) > 0 && !slices.Contains(only, spec.Name) || slices.Contains(without, spec.Name) {
			continue
		}
		c := s.base
		c.Nemesis = []string{spec.Name}
		var coded *harness.Error
		switch err := harness.Check(s.cat, c); {
		case err == nil:
			s.faults = append(s.faults, spec)
		case errors.As(err, &coded) && coded.Code == harness.ExitEnvironment: // another machine can
			code = harness.ExitEnvironment
		}
	}
	return code
}

// possible reports whether a change of the base can be run here.
func (s *Space) possible(change func(*harness.Config)) bool {
	c := s.base
	change(&c)
	return harness.Check(s.cat, c) == nil
}

// carries reports whether a fault can be tied to a message.
func (s *Space) carries() bool {
	return slices.ContainsFunc(s.faults, func(f nemesis.Spec) bool {
		return s.possible(func(c *harness.Config) { c.Nemesis = []string{f.Name + ":at=" + points.Request} })
	})
}

// Faults are the names of those that can be injected.
func (s *Space) Faults() (names []string) {
	for _, f := range s.faults {
		names = append(names, f.Name)
	}
	return names
}

// Workloads are the names of those that can be run.
func (s *Space) Workloads() []string { return s.loads }

func pick[T any](rnd *rand.Rand, all []T) T { return all[rnd.IntN(len(all))] }

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
		g := Genome{Clients: fewest + rnd.IntN(mostClients-fewest+1), Locks: 1, Time: s.quick() + time.Duration(rnd.IntN(4))*s.ttl/2, Workload: Gene{Name: "counter"}}
		if rnd.IntN(4) == 0 {
			g.Workload = s.load(rnd)
		}
		for n := 1 + rnd.IntN(4)/3; n > 0 && len(s.faults) > 0; n-- {
			g.Faults = append(g.Faults, s.fault(rnd))
		}
		return g
	})
}

// has reports whether a genome is one of the space.
func (s *Space) has(g Genome) bool {
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
	if values := s.valuesOf(p); len(values) > 0 {
		g.Params[p.Name] = pick(rnd, values)
	}
}

// valuesOf are values that a parameter may have: those of all faults, the words that its text explains, or some around its default.
func (s *Space) valuesOf(p catalog.Param) []string {
	if shared := s.values[p.Name]; shared != nil {
		return shared
	}
	if words := explained(p.Doc); len(words) > 1 {
		return words
	}
	number, unit := p.Default, ""
	if rest, ok := strings.CutSuffix(p.Default, "ttl"); ok {
		number, unit = rest, "ttl"
	}
	if v, err := strconv.ParseFloat(number, 64); err == nil {
		if p.Default == "0" || v > 0 && v < 1 && unit == "" { // a part of something
			return []string{"0", "0.1", "0.3", "0.7"}
		}
		var out []string
		for _, by := range []float64{0, 0.3, 1, 2, 5} {
			out = append(out, strconv.FormatFloat(v*by, 'g', 4, 64)+unit)
		}
		return out
	}
	return nil
}

// explained are the words of a parameter whose text says what each of them means: "none: never; half: once".
func explained(doc string) (words []string) {
	for part := range strings.SplitSeq(doc, "; ") {
		before, _, ok := strings.Cut(part, ": ")
		if !ok {
			continue
		}
		if i := strings.LastIndex(before, ": "); i >= 0 {
			before = before[i+2:]
		}
		fields := strings.Fields(before)
		if len(fields) > 0 {
			words = append(words, strings.Trim(fields[len(fields)-1], "`(,"))
		}
		if _, second, ok := strings.Cut(part, ": "); ok { // "what it is: word: meaning"
			if word, _, ok := strings.Cut(second, ": "); ok && len(strings.Fields(word)) == 1 {
				words[len(words)-1] = word
			}
		}
	}
	return words
}

// Change is a genome that differs from its parent in one thing or a few; other is a second parent of which it may have faults.
func (s *Space) Change(rnd *rand.Rand, parent, other Genome) (Genome, bool) {
	return s.draw(rnd, func() Genome {
		g := parent.clone()
		for range 1 + rnd.IntN(3) {
			s.change(rnd, &g, other)
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
		g.Locks = 3 - g.Locks
	default: // the same again, with another seed
	}
}

// String says it in short.
func (g Genome) String() string {
	var faults []string
	for _, f := range g.Faults {
		faults = append(faults, f.String())
	}
	return fmt.Sprintf("%s; %s; %d clients; %v", strings.Join(faults, " + "), g.Workload, g.Clients, g.Time)
}
