package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/stores"
	"github.com/lockstorm/lockstorm/workloads"
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
	if !slices.Contains(s.Faults(), "client-pause") || slices.Contains(s.Faults(), "failover-kill") || slices.Contains(s.Workloads(), "job") {
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
	if len(faults) != len(s.Faults()) || !points["between-get-and-del"] || !points["before-write"] || len(loads) != len(s.Workloads()) {
		t.Errorf("reached %d of %d faults, %d points, %d of %d workloads", len(faults), len(s.Faults()), len(points), len(loads), len(s.Workloads()))
	}
}

// The sweep has each fault alone, several locks, and, of a lock that extends its leases, sections that are longer than one; each can be run.
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
				of := slices.IndexFunc(g.Faults, func(f Gene) bool { spec, err := s.cat.Nemeses.Get(f.Name); return err == nil && kind.has(spec) })
				if of >= 0 && len(g.Faults) > kind.atOnce {
					t.Errorf("%s: %d faults in a run that has %s: %s", backend, len(g.Faults), g.Faults[of].Name, g)
				}
			}
			if locks[g.Locks] = true; g.Workload.Params["hold"] == "2.5ttl" {
				long++
			}
		}
		if len(plain) != len(s.Faults()) || together == 0 || !locks[1] || !locks[severalLocks] || !locks[manyLocks] || (long > 0) != renews {
			t.Errorf("%s: %d of %d faults as they are, %d together, locks %v, %d long sections", backend, len(plain), len(s.Faults()), together, locks, long)
		}
	}
}

// The first run has the fault of which a lock of its kind fails first: one with a lease outlives its paused holder, one without its dead one.
func TestFirstFault(t *testing.T) {
	for backend, want := range map[string]string{"redis-lua": "client-pause", "redis-setnx": "client-kill", "file-excl": "client-kill", "file-flock": "client-pause"} {
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
	for _, c := range []struct{ only, without []string }{{only: []string{"client-puase"}}, {without: []string{"nothing"}}, {only: []string{"failover-kill"}}} {
		var coded *harness.Error
		if _, err := NewSpace(cat, cfg, Choice{Only: c.only, Without: c.without}); !errors.As(err, &coded) || coded.Code != harness.ExitUsage {
			t.Errorf("only %v, without %v: %v", c.only, c.without, err)
		}
	}
	cfg.Backend = "nonsense"
	if _, err := NewSpace(cat, cfg, Choice{}); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("%v", err)
	}
}

// Options of a lock are varied where that is asked for; what was given with the lock stays, and a corpus with other options is not gone on with.
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
		if _, err := NewSpace(cat, cfg, Choice{Vary: []string{name}}); !errors.As(err, &coded) || coded.Code != harness.ExitUsage || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A lock in another language is searched at its own points, with the arguments of its program.
func TestAdapterIsSearched(t *testing.T) {
	cfg := harness.Defaults()
	cfg.Backend, cfg.Arguments = harness.ExecBackend("../../adapters/testdata/planted.py"), []string{"split"}
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
		"when the client extends the lock: none: never; half: once, halfway between read and write; background: every third of the ttl":  "none half background",
		"when the client extends the lock (none: never; half: once, halfway between read and write; background: every third of the ttl)": "none half background",
		"the pause between two tries of a waiting client; fixed: a fiftieth of the ttl; jitter: a random time":                           "fixed jitter",
		"longest time in the critical section": "",
	} {
		if got := strings.Join(explained(doc), " "); got != want {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
}

// The texts of the faults' parameters explain the words that the faults know.
func TestFaultsExplainTheirWords(t *testing.T) {
	words := map[string]string{"mode=cut": "cut blackhole loss hold latency", "mode=kill": "kill pause cut loss", "how=signal": "signal collector"} // by the default
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

// Who is who does not matter, only who comes first; an order that was not there before is a feature.
func TestOrders(t *testing.T) {
	of := func(row ...moment) map[uint64]bool {
		seen := map[uint64]bool{}
		orders(row, seen)
		return seen
	}
	ab := of(moment{1, "ask", "a"}, moment{2, "acquire ok", "a"}, moment{3, "ask", "b"})
	ba := of(moment{1, "ask", "b"}, moment{2, "acquire ok", "b"}, moment{3, "ask", "a"})
	other := of(moment{1, "ask", "a"}, moment{2, "ask", "b"}, moment{3, "acquire ok", "a"})
	if len(ab) != 1 || len(other) != 1 {
		t.Fatalf("%d and %d features of three moments", len(ab), len(other))
	}
	for f := range ab {
		if !ba[f] || other[f] {
			t.Errorf("the same order: %v; another one: %v", ba[f], other[f])
		}
	}
}

// The fixtures of the judge have behaviour: those in which two hold at once are nearer than those in which none does.
func TestMargin(t *testing.T) {
	g := func(client string, from, use int64) *history.Grant {
		return &history.Grant{Client: client, Acquire: &history.Call{Invoke: &history.Event{Time: from - 1}, Return: &history.Event{Time: from, Type: history.OK}}, Uses: []*history.Call{{Invoke: &history.Event{Time: use}}}}
	}
	for _, c := range []struct {
		want int64
		all  []*history.Grant
	}{
		{farthest, []*history.Grant{g("a", 1, 5)}},
		{3, []*history.Grant{g("a", 1, 5), g("b", 8, 9)}},
		{-2, []*history.Grant{g("b", 8, 9), g("a", 1, 10)}},
		{farthest, []*history.Grant{g("a", 1, 5), g("a", 3, 4)}},
	} {
		if got := margin(&history.Record{}, c.all); got != c.want {
			t.Errorf("margin %d, want %d", got, c.want)
		}
	}
}

// A corpus goes on where it was, also when its last line was cut off.
func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	c, err := openCorpus(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, features := range [][]uint64{{1, 2}, {2}, {2, 3}} {
		if n, err := c.add(Genome{Clients: i + 2}, Behaviour{Features: features, Margin: int64(i)}, false); err != nil || n != []int{2, 0, 1}[i] {
			t.Errorf("%v: %d new, %v", features, n, err)
		}
	}
	if _, err := c.file.WriteString(`{"genome":{"cli`); err != nil {
		t.Fatal(err)
	}
	c.file.Close() //nolint:errcheck // of the test
	again, err := openCorpus(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.file.Close() //nolint:errcheck // of the test
	if len(again.entries) != 2 || again.seen[3] == 0 || again.entries[1].Genome.Clients != 4 {
		t.Errorf("%d entries, %v", len(again.entries), again.seen)
	}
	if n, err := again.add(Genome{}, Behaviour{Features: []uint64{3, 4}}, true); err != nil || n != 1 {
		t.Errorf("%d new, %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(dir, CorpusFile), []byte("nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openCorpus(dir); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a corpus that is none: %v", err)
	}
}

// violating is a run in which two hold the lock at once, and the data shows it.
func violating(_ context.Context, _ *harness.Trial, dir string) (*checker.Results, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	h := `{"index":0,"time":1,"process":"controller","type":"info","f":"run","value":{"schema":1,"backend":"x","clients":2,"locks":["L1"],"ttl_ns":1000000000}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, history.File), []byte(h), 0o644); err != nil {
		return nil, err
	}
	return &checker.Results{Verdict: checker.Fail, Checks: map[string]checker.Result{
		checker.MutualExclusion: {Verdict: checker.Fail, Required: true, Findings: []checker.Finding{{Rule: "overlap", Class: checker.Defect, Gating: true}}},
		checker.DataPlain:       {Verdict: checker.Fail, Required: true, Findings: []checker.Finding{{Rule: "lost-update", Class: checker.Defect, Gating: true}}},
	}}, nil
}

// The search keeps what it finds, counts it by kind, and ends when it has what it looks for. Runs that cannot be made end it with their error.
func TestSearch(t *testing.T) {
	s := &Search{Space: space(t, "file-flock", "client-pause"), Dir: t.TempDir(), Seed: 1, Jobs: 2, Keep: 1}
	s.Run = violating
	s.Until = func(v *Violation) bool { return v.Check == checker.MutualExclusion && v.Runs > 2 }
	st, err := s.Go(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Violations) != 1 || st.Violations[0].Runs < 3 || !slices.Equal(st.Violations[0].With, []string{checker.DataPlain}) {
		t.Fatalf("%+v", st.Violations)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, st.Violations[0].Dir, history.File)); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(s.Dir, "found")); err != nil || len(left) != 1 {
		t.Errorf("%d runs are kept of 1, %v", len(left), err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, tries)); !os.IsNotExist(err) {
		t.Errorf("tries are left: %v", err)
	}
	s.Run = func(context.Context, *harness.Trial, string) (*checker.Results, error) {
		return nil, errors.New("no server")
	}
	s.Until = nil
	began := time.Now()
	if _, err := s.Go(t.Context()); err == nil || !strings.Contains(err.Error(), "no server") || time.Since(began) > time.Minute {
		t.Errorf("runs that cannot be made: %v", err)
	}
}

// board is a corpus of several searches, in memory.
type board struct{ given, others []*Entry }

func (b *board) Others(context.Context) (out []*Entry, err error) {
	out, b.others = b.others, nil
	return out, nil
}

func (b *board) Give(_ context.Context, mine []*Entry) error {
	b.given = mine
	return nil
}

// A search goes on from what others have learnt, if it may run it, and gives them what it learnt itself, but not what it has of them.
func TestShared(t *testing.T) {
	foreign := func(fault string, features ...uint64) *Entry {
		return &Entry{Genome: Genome{Faults: []Gene{{Name: fault}}, Workload: Gene{Name: "counter"}, Clients: 2, Locks: 1, Time: time.Second}, Features: features}
	}
	b := &board{others: []*Entry{foreign("client-pause", 1, 2), foreign("client-pause", 2), foreign("server-kill", 3)}}
	s := &Search{Space: space(t, "file-flock", "client-pause"), Dir: t.TempDir(), Seed: 1, Jobs: 1, Share: b, StopAt: 1}
	s.Run = violating
	st, err := s.Go(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Learnt != 1 || st.Corpus != 2 || st.Unshared != nil {
		t.Errorf("%d learnt, %d in the corpus, %v", st.Learnt, st.Corpus, st.Unshared)
	}
	if len(b.given) != 1 || !b.given[0].Violated {
		t.Errorf("given %+v", b.given)
	}
	s.Dir, s.Share = t.TempDir(), away{}
	if st, err = s.Go(t.Context()); err != nil || st.Unshared == nil || len(st.Violations) != 1 {
		t.Errorf("others are away: %+v, %v", st, err)
	}
}

// away is a corpus that cannot be reached.
type away struct{ *board }

func (away) Others(context.Context) ([]*Entry, error) { return nil, errors.New("no queue") }

// What is judged after the search is over, and writes meanwhile, is removed all the same, and is no error.
func TestJudgedAfterTheEnd(t *testing.T) {
	s := &Search{Space: space(t, "file-flock", "client-pause"), Dir: t.TempDir(), Seed: 1, Jobs: 1}
	ctx, stop := context.WithCancel(t.Context())
	var still sync.WaitGroup
	s.Run = func(_ context.Context, _ *harness.Trial, dir string) (*checker.Results, error) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		stop()
		still.Go(func() {
			for i := range 20000 { // until the directory is gone
				if os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o644) != nil {
					return
				}
			}
		})
		return nil, context.Canceled
	}
	_, err := s.Go(ctx)
	still.Wait()
	if _, there := os.Stat(filepath.Join(s.Dir, tries)); err != nil || !os.IsNotExist(there) {
		t.Errorf("%v, %v", err, there)
	}
}

// A check that does not make a run fail breaks no promise here either, and what it fails hides nothing.
func TestOnlyWhatFailsARun(t *testing.T) {
	w := &searching{Search: &Search{Dir: t.TempDir(), Keep: 1}, state: State{Why: map[string]int{}}}
	finding := []checker.Finding{{Rule: "overlap", Class: checker.Defect, Gating: true}}
	r := &checker.Results{Checks: map[string]checker.Result{
		checker.MutualExclusion: {Verdict: checker.Fail, Findings: finding},
		checker.DataPlain:       {Verdict: checker.Fail, Required: true, Findings: finding},
	}}
	dir := filepath.Join(w.Dir, tries, "1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.violations(Genome{}, 1, dir, r, &history.Record{}); err != nil {
		t.Fatal(err)
	}
	if len(w.state.Violations) != 1 || w.state.Violations[0].Check != checker.DataPlain {
		t.Errorf("%+v", w.state.Violations)
	}
}

// The directory of a search is that of one lock; what is in the way is named.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	s := &Search{Space: space(t, "file-flock", "client-pause"), Dir: dir, Jobs: 1, Until: func(*Violation) bool { return true }}
	s.Run = func(context.Context, *harness.Trial, string) (*checker.Results, error) {
		return nil, errors.New("enough")
	}
	if _, err := s.Go(t.Context()); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Fatal(err)
	}
	other := &Search{Space: space(t, "none", "client-pause"), Dir: dir, Jobs: 1, Run: s.Run}
	var coded *harness.Error
	if _, err := other.Go(t.Context()); !errors.As(err, &coded) || coded.Code != harness.ExitUsage || !strings.Contains(err.Error(), "another search") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(dir, baseFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Go(t.Context()); !errors.As(err, &coded) || coded.Code != harness.ExitUsage || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("%v", err)
	}
}

// A try that waited for no longer than the faults that held it, and the bound, is not a find; one that went on waiting is.
func TestTryThatFaultsHeld(t *testing.T) {
	const ms = int64(time.Millisecond)
	fault := func(from, to int64) *history.Injection {
		began := &history.Event{Time: from, Type: history.OK}
		return &history.Injection{Fault: history.Fault{Began: from}, Invoke: began, Effect: began, HealEnd: &history.Event{Time: to, Type: history.OK}}
	}
	rec := &history.Record{Run: history.Run{Bounds: map[string]int64{workloads.BoundTry: 2000 * ms}}, Faults: []*history.Injection{fault(1500*ms, 2500*ms), fault(1000*ms, 2000*ms)}}
	for _, c := range []struct {
		rule     string
		from, to int64
		held     bool
	}{
		{lateTry, 960, 3030, true},   // 0.57 s beyond the faults
		{lateTry, 900, 4390, true},   // 1.99 s, of which 0.1 s before them
		{lateTry, 900, 4410, false},  // 2.01 s
		{lateTry, 3000, 5001, false}, // after them
		{"no-recovery", 960, 3030, false},
	} {
		if got := heldByFaults(rec, checker.Finding{Rule: c.rule, From: c.from * ms, To: c.to * ms}); got != c.held {
			t.Errorf("%s from %d to %d ms: %v, want %v", c.rule, c.from, c.to, got, c.held)
		}
	}
}
