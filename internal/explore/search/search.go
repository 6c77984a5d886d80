package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/files"
)

// Search runs genomes until its context ends.
type Search struct {
	Space  *Space
	Dir    string // of the corpus, and of the runs that are kept
	Seed   uint64
	Jobs   int  // runs at once
	Random bool // what is learnt is not used: the baseline
	Keep   int  // violating runs that are kept, at most
	StopAt int  // distinct violations after which it ends; 0: none
	// Until ends the search when a violation is what was looked for; nil: nothing is.
	Until func(v *Violation) bool
	// Enough ends the search with a run that has a violation; nil: none does.
	Enough func(r *checker.Results) bool
	// Run makes a run in a directory.
	Run func(ctx context.Context, t *harness.Trial, dir string) (*checker.Results, error)
	// Share is what is learnt together with other searches; nil: nothing is.
	Share Share
	// Progress is told of each run, one after the other.
	Progress func(State)
}

// State is how far a search is.
type State struct {
	Runs       int            // begun
	Judged     int            // of them with a verdict, in this session
	Unjudged   int            // of them without a verdict
	Why        map[string]int // for which checks they have none
	Refused    int            // of them that could not be made
	Features   int            // of behaviour, seen so far
	Corpus     int            // parents
	Learnt     int            // of them from other searches
	Unshared   error          // why others were not reached, the last time that they were not
	New        *Violation     // found by this run; nil: none
	Violations []*Violation   // distinct ones
	// directory, in that of the search, of the run without a violation that came nearest to one; empty: none
	Nearest string
	Last    string // of the run that was enough; empty: none was
}

// searching is a search under way.
type searching struct {
	*Search

	begun time.Time

	mu     sync.Mutex
	rnd    *rand.Rand
	corpus *corpus
	state  State
	sweep  []Genome // that are still to be tried before anything is varied
	failed int      // runs in a row that could not be made
	err    error
	stop   context.CancelFunc
	margin int64 // of the run that came nearest

	exchanged time.Time // with other searches, last
}

// mostFailures is how many runs in a row may not be made, before the search is given up.
const mostFailures = 10

// fresh is the part of genomes, one in so many, that have no parent.
const fresh = 2

// Go searches. When ctx ends, what runs is stopped; what was found is in the state. The error is that no run could be made, or of
// the directory.
func (s *Search) Go(ctx context.Context) (*State, error) {
	if err := s.claim(); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(s.Dir, tries)); err != nil { // of one that was killed
		return nil, err
	}
	c, err := openCorpus(s.Dir)
	if err != nil {
		return nil, err
	}
	c.entries = slices.DeleteFunc(c.entries, func(e *Entry) bool { return !s.Space.has(e.Genome) })
	defer c.file.Close() //nolint:errcheck // each line was written
	w := &searching{
		state: State{Why: map[string]int{}}, Search: s, begun: time.Now(),
		rnd: rand.New(rand.NewPCG(s.Seed, uint64(len(c.entries)))), corpus: c,
	}
	if err := w.load(); err != nil {
		return nil, err
	}
	if w.exchange(ctx, true); len(c.entries) == 0 {
		w.sweep = s.Space.sweep()
	}
	ctx, w.stop = context.WithCancel(ctx)
	defer w.stop()
	var wg sync.WaitGroup
	for range s.Jobs {
		wg.Go(func() {
			for ctx.Err() == nil {
				w.once(ctx)
			}
		})
	}
	wg.Wait()
	w.exchange(context.WithoutCancel(ctx), true)
	return &w.state, errors.Join(w.err, cleared(filepath.Join(s.Dir, tries)))
}

// Judging a run that was interrupted goes on for a while, and writes into its directory: see [harness.Interruptible].
const (
	clearTime = 3 * time.Second
	clearEach = 50 * time.Millisecond
)

// cleared removes the directory of runs, again as long as something is still written into it.
func cleared(dir string) (err error) {
	for begun := time.Now(); time.Since(begun) < clearTime; time.Sleep(clearEach) {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}

// baseFile says in the directory of a search what it is about.
const baseFile = "search.json"

// claim makes sure that a directory is empty, or that of a search of the same lock, judged in the same way.
func (s *Search) claim() error {
	b, err := files.Claim(s.Dir, baseFile, s.Space.base)
	if errors.Is(err, files.ErrNotEmpty) {
		return harness.Usage(fmt.Errorf("%s is not empty, and is not the directory of an earlier search: name a new directory", s.Dir))
	}
	if err != nil || b == nil {
		return err
	}
	var there harness.Config
	var line string // which earlier versions stored
	if json.Unmarshal(b, &line) != nil {
		if err := json.Unmarshal(b, &there); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(s.Dir, baseFile), err)
		}
		line = strings.Join(there.Args(), " ")
	}
	if line != strings.Join(s.Space.base.Args(), " ") {
		return harness.Usage(fmt.Errorf("%s is the directory of another search (%s): name a new "+
			"directory", s.Dir, line))
	}
	return nil
}

// mostKept bounds the files of a search, in bytes.
const mostKept = 1 << 30

// tries is where runs are made.
const tries = "try"

// load reads the violations of a search that is gone on with.
func (w *searching) load() error {
	err := files.ReadJSON(filepath.Join(w.Dir, ViolationsFile), mostKept, &w.state.Violations)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, v := range w.state.Violations {
		w.state.Runs = max(w.state.Runs, v.Nth)
	}
	return nil
}

// next chooses a genome.
func (w *searching) next() (g Genome, nth int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Runs++
	if w.Random {
		g, ok = w.Space.Fresh(w.rnd)
		return g, w.state.Runs, ok
	}
	for len(w.sweep) > 0 {
		first := w.sweep[0]
		w.sweep = w.sweep[1:]
		if g, ok := w.Space.Swept(w.rnd, first); ok {
			return g, w.state.Runs, true
		}
	}
	var parent *Entry
	if len(w.corpus.entries) > 0 && w.rnd.IntN(fresh) > 0 {
		parent = w.corpus.parent(w.rnd)
	}
	if parent != nil {
		g, ok = w.Space.Change(w.rnd, parent.Genome, pick(w.rnd, w.corpus.entries).Genome)
	}
	if !ok { // there is no parent, or nothing near it can be run here
		g, ok = w.Space.Fresh(w.rnd)
	}
	return g, w.state.Runs, ok
}

// once makes a run and learns from it.
func (w *searching) once(ctx context.Context) {
	w.exchange(ctx, false)
	g, nth, ok := w.next()
	if !ok {
		w.end(errors.New("this lock cannot run on this machine with any fault and setting: run lockstorm doctor to see what " +
			"is missing"))
		return
	}
	dir := filepath.Join(w.Dir, tries, strconv.Itoa(nth))
	r, rec, err := w.make(ctx, g, dir)
	if ctx.Err() != nil { // its judging may still go on, in its directory: see cleared
		return
	}
	w.learn(g, nth, dir, r, rec, err)
	if rerr := os.RemoveAll(dir); rerr != nil {
		w.end(rerr)
	}
}

// make makes a run and reads its record.
func (w *searching) make(ctx context.Context, g Genome, dir string) (*checker.Results, *history.Record, error) {
	t, err := harness.Resolve(w.Space.cat, g.Config(w.Space.base))
	if err != nil {
		return nil, nil, err
	}
	r, err := w.Run(ctx, t, dir)
	if err != nil {
		return nil, nil, err
	}
	h, err := history.ReadFile(filepath.Join(dir, history.File))
	if err != nil {
		return nil, nil, err
	}
	rec, err := history.Build(h)
	return r, rec, err
}

func (w *searching) learn(g Genome, nth int, dir string, r *checker.Results, rec *history.Record, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.New = nil
	if err != nil {
		w.state.Refused++
		if w.failed++; w.failed >= mostFailures {
			w.give(fmt.Errorf("%d consecutive runs could not be started; error of the last run: %w", w.failed, err))
		}
		return
	}
	w.failed = 0
	w.unjudged(r)
	b := Observe(rec, r)
	_, err = w.corpus.learn(Entry{Genome: g, Features: b.Features, Margin: b.Margin, Violated: r.Verdict == checker.Fail})
	kept, kerr := w.violations(g, nth, dir, r, rec)
	if kerr == nil {
		kerr = w.keep(nth, dir, kept, r, b)
	}
	if err = cmp.Or(err, kerr); err != nil {
		w.give(err)
	}
	w.state.Features, w.state.Corpus = len(w.corpus.seen), len(w.corpus.entries)
	if w.Progress != nil {
		w.Progress(w.state)
	}
	if w.state.Last != "" || (w.StopAt > 0 && len(w.state.Violations) >= w.StopAt) ||
		(w.Until != nil && slices.ContainsFunc(w.state.Violations, w.Until)) {
		w.stop()
	}
}

// unjudged counts a run that has no verdict. That a fault hit nobody is no reason: then it was a run with fewer faults.
func (w *searching) unjudged(r *checker.Results) {
	if r.Verdict == checker.Fail {
		w.state.Judged++
		return
	}
	open := false
	for name, c := range r.Checks {
		if c.Required && c.Verdict == checker.Unknown && name != checker.Coverage {
			w.state.Why[name+": "+string(c.Code)]++
			open = true
		}
	}
	if open {
		w.state.Unjudged++
	} else {
		w.state.Judged++
	}
}

// give ends the search with an error; the lock is held.
func (w *searching) give(err error) {
	w.err = cmp.Or(w.err, err)
	w.stop()
}

func (w *searching) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.give(err)
}
