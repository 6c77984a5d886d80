package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Bounds of the varied settings: short runs find what long ones find, and more of them fit into an hour.
const (
	mostFaults  = 3
	fewest      = 2
	mostClients = 5
)

// quick and longest bound the time of a run: faults last for parts of the ttl, and what they do shows when a lease is over.
func (s *Space) quick() time.Duration   { return (s.ttl + s.ttl/2).Round(100 * time.Millisecond) }
func (s *Space) longest() time.Duration { return max(5*s.ttl, 5*time.Second) }

// blameless are workloads that can end badly with a lock that keeps every promise: handoff measures, two-locks can deadlock, and
// job does twice what takes less time than its clients' clocks differ.
var blameless = []string{"handoff", "two-locks", "job"}

// fixed are parameters of workloads that change the guarantees asked of the lock, or how it must be used.
var fixed = []string{"bound", "token", "pair", "fence"}

// Space is what can be varied of the runs of a lock.
type Space struct {
	cat     *harness.Catalogue
	base    harness.Config
	ttl     time.Duration
	faults  []nemesis.Spec
	options []catalog.Param // of the lock, that are varied
	loads   []string
	mode    string // the workload that is for locks of this model, as that with readers; where there is none, the plain one
	points  []string
	own     []string            // points of the lock
	many    bool                // three servers or more hold data: a majority decides
	renews  bool                // the lock extends its own leases
	kept    bool                // a dead holder keeps the lock
	carried []string            // points of messages; none where there are no servers
	values  map[string][]string // of parameters that all faults share
}

// Choice is what a search may vary.
type Choice struct {
	Only    []string // faults; none: all
	Without []string // faults
	Vary    []string // options of the lock, or [EveryOption]
}

// EveryOption stands for all options of a lock for which values are known.
const EveryOption = "all"

// NewSpace finds out what the lock, its servers and this machine allow of a choice.
func NewSpace(cat *harness.Catalogue, base harness.Config, choice Choice) (*Space, error) {
	for _, name := range slices.Concat(choice.Only, choice.Without) {
		if _, err := cat.Nemeses.Get(name); err != nil {
			return nil, harness.Usage(err)
		}
	}
	base.Nemesis, base.Clients, base.Time, base.Seed = []string{"none"}, fewest, time.Minute, 1
	t, err := harness.Resolve(cat, base)
	if err != nil {
		return nil, err
	}
	s := &Space{cat: cat, base: base, ttl: t.Config.TTL, mode: plainLoad}
	var requests []string
	b, _, err := backends.Choose(cat.Backends, base.Backend, base.Arguments...)
	if err != nil {
		return nil, err
	}
	if topology, err := cat.TopologyOf(b, t.Config.Topology); err == nil {
		data := 0
		for _, n := range topology.Nodes {
			if n.Data {
				data++
				requests = n.Requests
			}
		}
		s.many = data > 2
	}
	s.base.Time = s.longest()
	code := s.allowed(choice.Only, choice.Without)
	for _, w := range cat.Workloads.All() {
		// A lock that is not reentrant may let go of the first grant when it refuses the second: who identifies each grant on its own,
		// as most libraries do by default, never sees that.
		if w.Model != "" && w.Model != b.Model.Kind {
			continue
		}
		// it measures, and touches no data
		if !slices.Contains(blameless, w.Name) && s.possible(func(c *harness.Config) { c.Workload = w.Name }) {
			s.loads = append(s.loads, w.Name)
			if w.Model != "" || slices.Contains(w.Models, b.Model.Kind) {
				s.mode = w.Name
			}
		}
	}
	if len(s.faults) == 0 {
		return nil, &harness.Error{Code: code, Err: fmt.Errorf("`only` and `without` leave no fault that can be injected into "+
			"runs of %s on this machine: name other faults", base.Backend)}
	}
	if s.options, err = s.chosen(base.Backend, b.Params, choice.Vary); err != nil {
		return nil, err
	}
	s.own, s.renews, s.kept = history.PointNames(b.Points), b.Renews, b.Ends == history.EndsNever
	s.points = append(history.PointNames(history.SectionPoints()), s.own...)
	for range 2 { // a lock's own points are rarer than those of every critical section, and more telling
		s.points = append(s.points, s.own...)
	}
	if s.carries() {
		s.carried = history.PointNames(history.MessagePoints())
		for range 2 { // each of them is many: its count says which message
			s.points = append(s.points, s.carried...)
		}
	} else {
		requests = nil
	}
	s.values = map[string][]string{
		"at": append([]string{"random"}, s.points...), "nth": {"1", "2", "3", "5", "8"}, "for": {
			"0.2ttl", "0.5ttl", "0.9ttl", "1.2ttl",
			"1.5ttl", "2.5ttl",
		},
		"every": {"0.5ttl", "1ttl", "1.7ttl", "2.5ttl"}, "clients": {"1", "holder", "all", "half", "c1", "c1+c2"},
		"stay":  {"0.3ttl", "0.9ttl", "1.5ttl"},
		"nodes": {"1", "2", "leader", "follower", "majority", "granted", "all"}, "grant": {"any", "all", "1", "2", "3"},
		"until": {"granted"}, "while": {"1"}, "message": requests,
		// longer than a lease: then it must be extended, or its loss told
		"hold": {"0", "0.1ttl", "0.5ttl", "0.9ttl", "1.5ttl", "2.5ttl"},
	}
	return s, nil
}

// chosen are the options that are to be varied. Those that were given with the lock stay as they are, unless they are named.
func (s *Space) chosen(backend string, all []catalog.Param, names []string) (out []catalog.Param, err error) {
	if slices.Contains(names, EveryOption) {
		set := given(backend).Params
		return lists.Filter(all, func(p catalog.Param) bool {
			_, fixed := set[p.Name]
			return !fixed && len(s.valuesOf(p)) > 0
		}), nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(p catalog.Param) bool { return p.Name == name })
		switch {
		case i < 0:
			err = fmt.Errorf("--vary: %s has no option %q (see: list backends)", backend, name)
		case len(s.valuesOf(all[i])) == 0:
			err = fmt.Errorf("--vary: option %q of %s has no list of values: make one search for each value, with --backend "+
				"NAME:%s=VALUE", name, backend, name)
		}
		if err != nil {
			return nil, harness.Usage(err)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// allowed finds the faults that can be injected here. The code is that of a search without any: that of this machine where
// another one could inject some.
func (s *Space) allowed(only, without []string) (code int) {
	code = harness.ExitUsage // of a search without faults
	for _, spec := range s.cat.Nemeses.All() {
		if spec.Fault == nil || len(only) > 0 && !slices.Contains(only, spec.Name) || slices.Contains(without, spec.Name) {
			continue
		}
		c := s.base
		c.Nemesis = []string{spec.Name}
		switch err := harness.Check(s.cat, c); {
		case err == nil:
			s.faults = append(s.faults, spec)
		case harness.CodeOf(err) == harness.ExitEnvironment: // another machine can
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
		return s.possible(func(c *harness.Config) { c.Nemesis = []string{f.Name + ":at=" + history.AtRequest} })
	})
}

// Faults are the names of those that can be injected.
func (s *Space) Faults() (names []string) {
	return lists.Map(s.faults, func(f nemesis.Spec) string { return f.Name })
}

// Workloads are the names of those that can be run.
func (s *Space) Workloads() []string { return s.loads }
