package search

import (
	"context"
	"errors"
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
	"github.com/lockstorm/lockstorm/workloads"
)

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
		return &history.Grant{Client: client, Acquire: &history.Call{
			Invoke: history.Line{Time: from - 1}.Event(),
			Return: history.Line{Time: from, Type: history.OK}.Event(),
		}, Uses: []*history.Call{{Invoke: history.Line{Time: use}.Event()}}}
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
		if n, err := c.learn(Entry{Genome: Genome{Clients: i + 2}, Features: features, Margin: int64(i)}); err != nil ||
			n != []int{2, 0, 1}[i] {
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
	if n, err := again.learn(Entry{Features: []uint64{3, 4}, Violated: true}); err != nil || n != 1 {
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
		checker.MutualExclusion: {
			Verdict: checker.Fail, Required: true,
			Findings: []checker.Finding{{Rule: "overlap", Class: checker.Defect, Gating: true}},
		},
		checker.DataPlain: {
			Verdict: checker.Fail, Required: true,
			Findings: []checker.Finding{{Rule: "lost-update", Class: checker.Defect, Gating: true}},
		},
	}}, nil
}

// The search keeps what it finds, counts it by kind, and ends when it has what it looks for. Runs that cannot be made end it with
// their error.
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

// A search goes on from what others have learnt, if it may run it, and gives them what it learnt itself, but not what it has of
// them.
func TestShared(t *testing.T) {
	foreign := func(fault string, features ...uint64) *Entry {
		return &Entry{Genome: Genome{
			Faults: []Gene{{Name: fault}}, Workload: Gene{Name: "counter"}, Clients: 2, Locks: 1,
			Time: time.Second,
		}, Features: features}
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
	if _, err := other.Go(t.Context()); !errors.As(err, &coded) || coded.Code != harness.ExitUsage ||
		!strings.Contains(err.Error(), "another search") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(dir, baseFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Go(t.Context()); !errors.As(err, &coded) || coded.Code != harness.ExitUsage ||
		!strings.Contains(err.Error(), "is not empty") {
		t.Errorf("%v", err)
	}
}

// A try that waited for no longer than the faults that held it, and the bound, is not a find; one that went on waiting is.
func TestTryThatFaultsHeld(t *testing.T) {
	const ms = int64(time.Millisecond)
	fault := func(from, to int64) *history.Injection {
		began := history.Line{Time: from, Type: history.OK}.Event()
		return &history.Injection{
			Fault: history.Fault{Began: from}, Invoke: began, Effect: began,
			HealEnd: history.Line{Time: to, Type: history.OK}.Event(),
		}
	}
	rec := &history.Record{
		Run:    history.Run{Bounds: map[string]int64{workloads.BoundTry: 2000 * ms}},
		Faults: []*history.Injection{fault(1500*ms, 2500*ms), fault(1000*ms, 2000*ms)},
	}
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
