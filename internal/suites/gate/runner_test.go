package gate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

const small = `
name: small
seeds: 2
run: {time: 500ms, ttl: 300ms, clients: 2}
axes: {backend: [file-flock, none], nemesis: none}
include:
  - {name: other, run: {backend: file-excl}}
expect:
  - {of: {backend: none}, outcome: defect}
`

func expand(t *testing.T, text string) []plan.Cell {
	t.Helper()
	_, cells := fileOf(t, text)
	return cells
}

// fileOf is a suite file and its cells.
func fileOf(t *testing.T, text string) (*plan.File, []plan.Cell) {
	t.Helper()
	f, err := plan.Read("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(cases.Suites(harness.New(stores.All()...)))
	if err != nil {
		t.Fatal(err)
	}
	return f, cells
}

func suiteOf(t *testing.T, cells []plan.Cell) *Suite {
	t.Helper()
	return &Suite{
		Definition: Definition{Schema: Schema, Name: "small", Source: small, Cells: cells},
		Dir:        filepath.Join(t.TempDir(), "out"),
	}
}

// keptBy judges a suite and stores its results.
func keptBy(t *testing.T, s *Suite) *SuiteResults {
	t.Helper()
	r := s.Judge(nil)
	if err := errors.Join(os.MkdirAll(s.Dir, 0o755), s.Keep(s.Dir, r)); err != nil {
		t.Fatal(err)
	}
	return r
}

// verdicts are what must be equal however a suite was run.
func verdicts(r *SuiteResults) (out []string) {
	for _, c := range r.Cells {
		out = append(out, c.Name+" "+string(c.Status)+" "+string(c.Outcome))
	}
	return out
}

// A suite runs, is stored, and is the same when it is read again; every run of it can be judged by itself.
func TestASuite(t *testing.T) {
	t.Parallel()
	cells := expand(t, small)
	s := suiteOf(t, cells)
	var mu sync.Mutex
	begun, done := 0, 0
	r := &Runner{Catalogue: harness.New(stores.All()...), Retry: 2, Progress: func(e RunProgress) {
		// again where the host came between
		mu.Lock()
		defer mu.Unlock()
		if e.Outcome == nil {
			begun++
			return
		}
		done = max(done, e.Done)
	}}
	if err := r.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if begun < 9 || done != 9 {
		t.Errorf("%d runs begun, %d done, want 9", begun, done)
	}
	first := keptBy(t, s)
	if first.ExitCode != 0 || first.Counts[Expected] != 3 {
		t.Errorf("exit %d: %s", first.ExitCode, first.Verdict)
	}
	for _, name := range []string{DefinitionFile, ResultsFile} {
		if st, err := os.Stat(filepath.Join(s.Dir, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	again, err := Load(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if second := judged(t, again); !slices.Equal(verdicts(first), verdicts(second)) {
		t.Errorf("read again: %v, was %v", verdicts(second), verdicts(first))
	}
	for _, o := range again.Outcomes { // the page of the first run leads to the last, which was not there when it was made
		if o.Disturbed() {
			continue // another attempt counts, and it has the page
		}
		page, err := os.ReadFile(filepath.Join(s.Dir, o.Dir, harness.ReportFile))
		alone := strings.HasPrefix(o.Cell, "control")
		if err != nil || strings.Contains(string(page), "of the 2 runs of this cell") == alone ||
			(o.Seed == 1 && strings.Contains(string(page), `href="../seed-2/report.html"`) == alone) {
			t.Errorf("%s: its page does not lead to its neighbours (%v)", o.Dir, err)
		}
		j, err := harness.JudgeDir(harness.New(stores.All()...), filepath.Join(s.Dir, o.Dir))
		if err != nil || j.Results.ExitCode != o.Exit {
			t.Errorf("%s: %v", o.Dir, err)
		}
		if _, err := harness.ReadTrial(harness.New(stores.All()...), filepath.Join(s.Dir, o.Dir), ""); err != nil {
			t.Errorf("%s cannot be replayed: %v", o.Dir, err)
		}
	}
	if err := (&Runner{Catalogue: harness.New(stores.All()...)}).Run(t.Context(), suiteAt(s.Dir, cells)); err == nil ||
		!strings.Contains(err.Error(), "--resume") {
		t.Errorf("a directory that is not empty: %v", err)
	}
	other := cells[:len(cells)-1]
	if err := (&Runner{Catalogue: harness.New(stores.All()...), Resume: true}).Run(t.Context(), suiteAt(s.Dir, other)); err == nil ||
		!strings.Contains(err.Error(), "another suite") {
		t.Errorf("gone on with another suite: %v", err)
	}
}

func suiteAt(dir string, cells []plan.Cell) *Suite {
	return &Suite{Definition: Definition{Schema: Schema, Name: "small", Source: small, Cells: cells}, Dir: dir}
}

// Three shards together are the whole: each cell in one of them, controls in each; merged they come to
// the same as the suite that was run at once.
func TestShards(t *testing.T) {
	t.Parallel()
	cells := expand(t, small)
	whole := suiteOf(t, cells)
	if err := (&Runner{Catalogue: harness.New(stores.All()...)}).Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	dirs, base := []string{}, t.TempDir()
	for n := 1; n <= 3; n++ {
		shard := Shard{n, 3}
		part := shard.Take(harness.New(stores.All()...), cells)
		s := suiteAt(filepath.Join(base, "shard"+string(rune('0'+n))), part)
		s.Shard = shard.String()
		if err := (&Runner{Catalogue: harness.New(stores.All()...)}).Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, s.Dir)
	}
	all, err := Merge(dirs, filepath.Join(base, "all"))
	if err != nil {
		t.Fatal(err)
	}
	r := keptBy(t, all)
	if want := verdicts(judged(t, whole)); !slices.Equal(verdicts(r), want) {
		t.Errorf("merged:\n%s\nat once:\n%s", strings.Join(verdicts(r), "\n"), strings.Join(want, "\n"))
	}
	half, err := Merge(dirs[:2], filepath.Join(base, "half"))
	if err != nil {
		t.Fatal(err)
	}
	if r := judged(t, half); r.ExitCode != harness.ExitUnknown || !strings.Contains(r.Verdict, "did not reach the required "+
		"coverage: shard 3/3") {
		t.Errorf("without the last shard: exit %d, %s", r.ExitCode, r.Verdict)
	}
	if _, err := Merge(append(dirs, dirs[0]), all.Dir); err == nil || !strings.Contains(err.Error(), "name each shard only once") {
		t.Errorf("one part twice: %v", err)
	}
}

// However cells are split, each is in one shard; the split is the same on every machine.
func TestEveryCellIsInOneShard(t *testing.T) {
	t.Parallel()
	f, err := plan.Open(cases.Suites(harness.New(stores.All()...)), "full", nil)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(cases.Suites(harness.New(stores.All()...)))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []int{1, 2, 3, 7, 50} {
		seen, most, least := map[string]int{}, 0, len(cells)
		for n := 1; n <= of; n++ {
			part := Shard{n, of}.Take(harness.New(stores.All()...), cells)
			most, least = max(most, len(part)), min(least, len(part))
			for _, c := range part {
				if !c.Control {
					seen[c.Case.Name]++
				}
			}
		}
		for _, c := range cells {
			if !c.Control && seen[c.Case.Name] != 1 {
				t.Errorf("%d shards: %s is in %d of them", of, c.Case.Name, seen[c.Case.Name])
			}
		}
		if most > 2*least {
			t.Errorf("%d shards have %d to %d cells", of, least, most)
		}
	}
	for text, ok := range map[string]bool{
		"1/3": true, "3/3": true, "0/3": false, "4/3": false, "1": false, "a/b": false,
		"1/0": false,
	} {
		if _, err := ParseShard(text); (err == nil) != ok {
			t.Errorf("--shard %s: %v", text, err)
		}
	}
}

// A suite that is stopped keeps what has ended, and goes on from there: nothing is run twice.
func TestResume(t *testing.T) {
	t.Parallel()
	cells := expand(t, small)
	s := suiteOf(t, cells)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r := &Runner{Catalogue: harness.New(stores.All()...), Jobs: 1, Progress: func(e RunProgress) {
		if e.Outcome != nil && e.Done == 4 {
			stop()
		}
	}}
	if err := r.Run(ctx, s); err != nil {
		t.Fatal(err)
	}
	if half := judged(t, s); half.ExitCode != harness.ExitInterrupted || !strings.Contains(half.Verdict, "interrupted") {
		t.Errorf("exit %d: %s", half.ExitCode, half.Verdict)
	}
	before := map[string]time.Time{}
	stored, err := Load(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(stored.Outcomes) != 4 {
		t.Fatalf("%d outcomes are kept", len(stored.Outcomes))
	}
	for _, o := range stored.Outcomes {
		before[o.Dir] = modified(t, filepath.Join(s.Dir, o.Dir, OutcomeFile))
	}
	half := filepath.Join(s.Dir, RunDir(cells[len(cells)-1].Case.Name, 2, 0)) // as if it had been killed in the middle of a run
	if err := os.MkdirAll(filepath.Join(half, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	next := suiteAt(s.Dir, cells)
	if err := (&Runner{Catalogue: harness.New(stores.All()...), Resume: true}).Run(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if whole := judged(t, next); whole.ExitCode != 0 || len(next.Outcomes) != 9 {
		t.Errorf("exit %d, %d outcomes: %s", whole.ExitCode, len(next.Outcomes), whole.Verdict)
	}
	for dir, at := range before {
		if now := modified(t, filepath.Join(s.Dir, dir, OutcomeFile)); !now.Equal(at) {
			t.Errorf("%s was run again", dir)
		}
	}
}

func modified(t *testing.T, path string) time.Time {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.ModTime()
}

// Nothing more begins after a violation that nobody expected, when that is asked for, nor when the time is
// up; what has not begun is said to be not run, and does not hide the violation.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	cells := expand(t, "seeds: 6\nrun: {time: 300ms, ttl: 300ms, clients: 2}\naxes: {backend: none}\n")
	s := suiteOf(t, cells)
	if err := (&Runner{Catalogue: harness.New(stores.All()...), Jobs: 1, MaxFailures: 1}).Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	// three controls, and one
	if r := judged(t, s); r.ExitCode != 1 || r.Cells[len(r.Cells)-1].Status != Violation || len(s.Outcomes) != 4 {
		t.Errorf("exit %d, %d runs: %s", r.ExitCode, len(s.Outcomes), r.Verdict)
	}
	s = suiteOf(t, cells)
	if err := (&Runner{Catalogue: harness.New(stores.All()...), Jobs: 1, Budget: time.Millisecond}).Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if r := judged(t, s); r.ExitCode != 2 || r.Counts[NotRun] != 1 {
		t.Errorf("exit %d: %s", r.ExitCode, r.Verdict)
	}
}

// What is missing at the moment is tried once more, after all others and alone; every attempt is kept, the last
// counts.
func TestRetry(t *testing.T) {
	cells := expand(t, "run: {time: 300ms}\naxes: {backend: [redis-lua, redis-fenced], provider: process}\n")
	t.Setenv("PATH", "") // no servers
	s := suiteOf(t, cells)
	again, others, running, together := 0, len(cells), 0, 0 // others: runs whose first attempt has not ended
	var mu sync.Mutex
	r := &Runner{Catalogue: harness.New(stores.All()...), Retry: 2, Progress: func(e RunProgress) {
		mu.Lock()
		defer mu.Unlock()
		if e.Outcome == nil {
			running++
			if others == 0 {
				together = max(together, running)
			}
			return
		}
		running--
		if e.Outcome.Attempt == 0 {
			others--
		} else if others > 0 {
			t.Errorf("attempt %d ended, and %d runs were not made yet", e.Outcome.Attempt, others)
		}
		if e.Again {
			again++
		}
	}}
	if err := r.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	broken := slices.DeleteFunc(slices.Clone(s.Outcomes), func(o RunResult) bool { return o.Status != Broken })
	if len(broken) != 4 || again != 2 || broken[3].Attempt != 1 || broken[3].Exit != harness.ExitEnvironment {
		t.Errorf("%d attempts, %d announced: %+v", len(broken), again, broken)
	}
	if together != 1 {
		t.Errorf("%d were made again at the same time", together)
	}
	if got := judged(t, s); got.ExitCode != harness.ExitEnvironment || len(got.Cells[len(got.Cells)-1].Runs) != 1 {
		t.Errorf("exit %d: %s", got.ExitCode, got.Verdict)
	}
	if stored, err := Load(s.Dir); err != nil || len(stored.Outcomes) != len(s.Outcomes) {
		t.Errorf("%d outcomes are stored, of %d (%v)", len(stored.Outcomes), len(s.Outcomes), err)
	}
}

// A run that has shown all that is expected ends its work: what it measures is of that time, and is not compared. Where a cell
// has thresholds, it takes its whole time.
func TestEndsEarly(t *testing.T) {
	t.Parallel()
	const text = `
name: early
run: {clients: 3, ttl: 500ms, time: 4s}
include:
  - {name: broken, doc: nothing is locked, run: {backend: none}, exit: 1, checks: {mutual-exclusion: violated}}
  - {name: measured, doc: the same, run: {backend: none}, exit: 1, checks: {mutual-exclusion: violated}, thresholds: [grants > 1]}
`
	s := suiteOf(t, expand(t, text))
	s.Source, s.EndsEarly = text, true
	if err := (&Runner{Catalogue: harness.New(stores.All()...), Retry: 2}).Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, j := range keptBy(t, s).Cells {
		if j.Control {
			continue
		}
		o := j.Runs[0]
		early := j.Name == "broken"
		if o.Early != early || (o.Length < 4*time.Second) != early || (len(changes(j, j)) == 0) != early {
			t.Errorf("%s: early %v, worked for %v, %d figures compared", j.Name, o.Early, o.Length, len(changes(j, j)))
		}
	}
}
