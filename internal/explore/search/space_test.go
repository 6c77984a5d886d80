package search

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
)

func space(t *testing.T, backend string, only ...string) *Space {
	t.Helper()
	cfg := harness.Defaults()
	cfg.Backend, cfg.Provider = backend, "embedded"
	if strings.HasPrefix(backend, "file-") || backend == "none" {
		cfg.Provider = "auto"
	}
	s, err := NewSpace(harness.New(stores.All()...), cfg, Choice{Only: only})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every genome, fresh or changed, is one that can be run, and a chain of changes reaches all that can be varied.
func TestGenomes(t *testing.T) {
	s := space(t, "redis-get-del")
	if !slices.Contains(s.Faults(), "client-pause") || slices.Contains(s.Faults(), "failover-kill") ||
		slices.Contains(s.Workloads(), "job") {
		t.Errorf("faults %v, workloads %v", s.Faults(), s.Workloads())
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	g, ok := s.Fresh(rnd)
	if !ok {
		t.Fatal("no fresh genome")
	}
	faults, points, loads := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for range 3000 {
		if n, ok := s.Change(rnd, g, g); ok {
			g = n
		}
		if err := harness.Check(s.cat, g.Config(s.base)); err != nil {
			t.Fatalf("%s: %v", g.Config(s.base).Line(), err)
		}
		if len(g.Faults) > mostFaults || g.Clients > mostClients || g.Time > s.longest() {
			t.Fatalf("out of bounds: %s", g)
		}
		for _, f := range g.Faults {
			faults[f.Name], points[f.Params["at"]] = true, true
		}
		loads[g.Workload.Name] = true
	}
	if len(faults) != len(s.Faults()) || !points["between-get-and-del"] || !points["before-write"] ||
		len(loads) != len(s.Workloads()) {
		t.Errorf("reached %d of %d faults, %d points, %d of %d workloads", len(faults), len(s.Faults()), len(points), len(loads),
			len(s.Workloads()))
	}
}

// The sweep has each fault alone, several locks, and, of a lock that extends its leases, sections that are longer than one; each
// can be run.
func TestSweep(t *testing.T) {
	for backend, renews := range map[string]bool{"redis-lua": false, "redis-watchdog": true} {
		s := space(t, backend)
		rnd := rand.New(rand.NewPCG(1, 2))
		plain, locks, long, together := map[string]bool{}, map[int]bool{}, 0, 0
		for _, of := range s.sweep() {
			g, ok := s.Swept(rnd, of)
			if !ok { // not every point is one of every fault
				continue
			}
			for _, f := range g.Faults {
				if len(f.Params) == 0 {
					plain[f.Name] = true
				}
			}
			if len(g.Faults) > 1 {
				together++
			}
			for _, kind := range kinds {
				of := slices.IndexFunc(g.Faults, func(f Gene) bool {
					spec, err := s.cat.Nemeses.Get(f.Name)
					return err == nil &&
						kind.has(spec)
				})
				if of >= 0 && len(g.Faults) > kind.atOnce {
					t.Errorf("%s: %d faults in a run that has %s: %s", backend, len(g.Faults), g.Faults[of].Name, g)
				}
			}
			if locks[g.Locks] = true; g.Workload.Params["hold"] == "3.5ttl" {
				long++
			}
		}
		if len(plain) != len(s.Faults()) || together == 0 || !locks[1] || !locks[severalLocks] || !locks[manyLocks] ||
			(long > 0) != renews {
			t.Errorf("%s: %d of %d faults as they are, %d together, locks %v, %d long sections", backend, len(plain), len(s.Faults()),
				together, locks, long)
		}
	}
}

// The first run has the fault of which a lock of its kind fails first: one with a lease outlives its paused holder, one without
// its dead one.
func TestFirstFault(t *testing.T) {
	for backend, want := range map[string]string{
		"redis-lua": "client-pause", "redis-setnx": "client-kill",
		"file-excl": "client-kill", "file-flock": "client-pause",
	} {
		if first := space(t, backend).sweep()[0]; len(first.Faults) != 1 || first.Faults[0].Name != want {
			t.Errorf("%s: %s, want %s", backend, first, want)
		}
	}
}

// What cannot be searched is refused with a sentence.
func TestSpaceRefuses(t *testing.T) {
	cfg := harness.Defaults()
	cfg.Backend = "file-flock"
	cat := harness.New(stores.All()...)
	for _, c := range []struct{ only, without []string }{
		{only: []string{"client-puase"}},
		{without: []string{"nothing"}},
		{only: []string{"failover-kill"}},
	} {
		var coded *harness.Error
		if _, err := NewSpace(cat, cfg, Choice{Only: c.only, Without: c.without}); !errors.As(err, &coded) ||
			coded.Code != harness.ExitUsage {
			t.Errorf("only %v, without %v: %v", c.only, c.without, err)
		}
	}
	cfg.Backend = "nonsense"
	if _, err := NewSpace(cat, cfg, Choice{}); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("%v", err)
	}
}

// Options of a lock are varied where that is asked for; what was given with the lock stays, and a corpus with other options is
// not gone on with.
func TestOptions(t *testing.T) {
	cat := harness.New(stores.All()...)
	cfg := harness.Defaults()
	cfg.Provider, cfg.Backend = "embedded", "redsync:fail-fast=yes"
	s, err := NewSpace(cat, cfg, Choice{Vary: []string{EveryOption}})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	var g Genome
	for range 500 {
		var ok bool
		if g, ok = s.Fresh(rnd); !ok {
			t.Fatal("no fresh genome")
		}
		if g, ok = s.Change(rnd, g, g); !ok {
			t.Fatal("no change")
		}
		made := g.Config(s.base)
		if err := harness.Check(cat, made); err != nil || !strings.Contains(made.Backend, "fail-fast=yes") || !s.has(g) {
			t.Fatalf("%s: %v", made.Line(), err)
		}
		for name, value := range g.Options {
			seen[name+"="+value] = true
		}
	}
	for _, want := range []string{"setnx-extend=yes", "shuffle=yes", "tries=10", "tries=64"} {
		if !seen[want] {
			t.Errorf("%s is not tried: %v", want, seen)
		}
	}
	g.Options = map[string]string{"tries": "3"}
	if space(t, "redsync").has(g) {
		t.Error("a search that varies no option goes on with a run that has one")
	}
	var coded *harness.Error
	for _, name := range []string{"retires", "client"} { // of the latter no values are known
		if _, err := NewSpace(cat, cfg, Choice{Vary: []string{name}}); !errors.As(err, &coded) || coded.Code != harness.ExitUsage ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A lock in another language is searched at its own points, with the arguments of its program.
func TestAdapterIsSearched(t *testing.T) {
	cfg := harness.Defaults()
	cfg.Backend, cfg.Arguments = harness.ExecBackend("../../../adapters/testdata/planted.py"), []string{"split"}
	s, err := NewSpace(harness.New(stores.All()...), cfg, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.own, "compared") {
		t.Errorf("points %v", s.own)
	}
	g, ok := s.Fresh(rand.New(rand.NewPCG(1, 2)))
	if made := g.Config(s.base); !ok || !slices.Equal(made.Arguments, cfg.Arguments) {
		t.Errorf("%v %s", ok, made.Line())
	}
}

// The words that the text of a parameter explains are its values.
func TestExplained(t *testing.T) {
	for doc, want := range map[string]string{
		"when the client extends the lock: none: never; half: once, halfway between read and write; background: every third of " +
			"the ttl": "none half background",
		"when the client extends the lock (none: never; half: once, halfway between read and write; background: every third of " +
			"the ttl)": "none half background",
		"the pause between two tries of a waiting client; fixed: a fiftieth of the ttl; jitter: a random time": "fixed jitter",
		"longest time in the critical section": "",
	} {
		if got := strings.Join(explained(doc), " "); got != want {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
}

// The texts of the faults' parameters explain the words that the faults know.
func TestFaultsExplainTheirWords(t *testing.T) {
	// by the default
	words := map[string]string{
		"mode=cut": "cut blackhole loss hold latency", "mode=kill": "kill pause cut loss",
		"how=signal": "signal collector",
	}
	found := map[string]bool{}
	for _, spec := range harness.New(stores.All()...).Nemeses.All() {
		for _, p := range spec.Params {
			name := p.Name + "=" + p.Default
			want, ok := words[name]
			if !ok {
				continue
			}
			found[name] = true
			if got := strings.Join(explained(p.Doc), " "); got != want {
				t.Errorf("%s of %s: %q, want %q", name, spec.Name, got, want)
			}
		}
	}
	if len(found) != len(words) {
		t.Errorf("found %v", found)
	}
}
