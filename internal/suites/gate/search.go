package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/explore/search"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/suite"
)

// A case with a search is made like a run: in its directory is the run that shows best what the search found, made smaller where
// it has a violation, and beside it what the search has learnt, in search/.
const (
	searchDir   = "search"
	shrunkDir   = "shrunk"
	searchRuns  = 2 // at once
	searchKeeps = 5 // violating runs
	shrinkRuns  = 40
	shrinkRate  = 5
)

// Searched is what came of the search of a case.
type Searched struct {
	Runs       int             `json:"runs"`
	Unjudged   int             `json:"unjudged,omitempty"` // of them without a verdict
	Features   int             `json:"features"`           // kinds of behaviour
	Learnt     int             `json:"learnt,omitempty"`   // runs of other searches of the cell, which it learnt from
	Unshared   string          `json:"unshared,omitempty"` // why it did not reach them
	Violations []string        `json:"violations,omitempty"`
	Shrunk     *explore.Shrunk `json:"shrunk,omitempty"`  // nil: the run is as it was found
	Trouble    string          `json:"trouble,omitempty"` // why it is not smaller
}

// String is the search in short.
func (s *Searched) String() string {
	text := fmt.Sprintf("the search for violations made %s, which showed %s of behaviour", checker.Count(s.Runs, "run"),
		checker.Count(s.Features, "kind"))
	if s.Learnt > 0 {
		text += fmt.Sprintf("; the search also learned from %s of other searches of this cell", checker.Count(s.Learnt, "run"))
	}
	if s.Shrunk != nil && s.Shrunk.Of > 0 {
		text += fmt.Sprintf("; a smaller version of the violating run showed the violation again in %d of %s", s.Shrunk.Again,
			checker.Count(s.Shrunk.Of, "run"))
	}
	return text
}

// Found are the distinct violations that the searches of each cell found: each once, however many of them found it.
func Found(all []RunResult) map[string][]string {
	out := map[string][]string{}
	for _, o := range all {
		if o.Search == nil {
			continue
		}
		for _, v := range o.Search.Violations {
			out[o.Cell] = lists.With(out[o.Cell], v)
		}
		slices.Sort(out[o.Cell])
	}
	maps.DeleteFunc(out, func(_ string, v []string) bool { return len(v) == 0 })
	return out
}

// wants reports whether an expectation can only be met by a violation.
func wants(e suite.Expectation) bool {
	return slices.Contains([]suite.Outcome{suite.Defect, suite.Blocks, suite.Violated}, e.Outcome) ||
		slices.Contains(slices.Collect(maps.Values(e.Verdicts)), checker.Fail)
}

// enough reports whether a violating run ends a search: it is worse than expected, or the one to be found.
func enough(e suite.Expectation, r *checker.Results) bool {
	differs := e.Compare(r.ExitCode, r)
	return statusOf(e, r.ExitCode, r, differs, nil) == Violation || (wants(e) && len(differs) == 0)
}

// searched searches a case, and makes its configuration that of the run that was found. The search goes on until its
// time is over if only violations inherent to the lock show; it ends with the first violation that is not expected,
// or with the one to be found.
func searched(ctx context.Context, cat *harness.Catalogue, c *suite.Case, dir string, share search.Share) (*harness.RunOutcome,
	*Searched, error,
) {
	again := c.Run.Command
	space, err := search.NewSpace(cat, c.Run, search.Choice{Only: c.Search.Only, Without: c.Search.Without, Vary: c.Search.Vary})
	if err != nil {
		return nil, nil, err
	}
	run := func(ctx context.Context, t *harness.Trial, dir string) (*checker.Results, error) {
		t.Config.Command = again
		return t.Judged(ctx, dir)
	}
	s := &search.Search{
		Space: space, Dir: filepath.Join(dir, searchDir), Seed: c.Run.Seed, Jobs: searchRuns, Keep: searchKeeps, Run: run, Share: share,
		Enough: func(r *checker.Results) bool { return enough(c.Expect, r) },
	}
	limited, stop := context.WithTimeout(ctx, c.Search.For)
	defer stop()
	st, err := s.Go(limited)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil && (st == nil || len(st.Violations) == 0):
		return nil, nil, harness.Environment(err)
	}
	told := &Searched{Runs: st.Runs, Unjudged: st.Unjudged, Features: st.Features, Learnt: st.Learnt}
	if st.Unshared != nil {
		told.Unshared = st.Unshared.Error()
	}
	for _, v := range st.Violations {
		told.Violations = append(told.Violations, v.String())
	}
	shown, violated := best(st)
	if shown == "" {
		return nil, told, &harness.Error{Code: harness.ExitUnknown, Err: fmt.Errorf("the search for violations has no verdict, "+
			"because none of its runs had a verdict (it made %s)", checker.Count(st.Runs, "run"))}
	}
	from := filepath.Join(s.Dir, shown)
	if c.Run, err = madeWith(from); err != nil {
		return nil, told, err
	}
	if violated {
		made, err := shrunk(ctx, cat, *c, run, from, filepath.Join(dir, searchDir, shrunkDir))
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil: // it masks no violation
			told.Trouble = err.Error()
		}
		if made != nil {
			from, told.Shrunk = made.Dir, made
		}
	}
	out, err := settle(from, dir)
	return out, told, err
}

// best is the run that shows best what a search found.
func best(st *search.State) (dir string, violated bool) {
	if st.Last != "" {
		return st.Last, true
	}
	for _, v := range st.Violations {
		if v.Dir != "" {
			return v.Dir, true
		}
	}
	return st.Nearest, false
}

// shrunk makes a violating run smaller, as long as there is time; nil: one that does not show again often enough stays as it is.
func shrunk(ctx context.Context, cat *harness.Catalogue, c suite.Case,
	run func(context.Context, *harness.Trial, string) (*checker.Results, error), from, to string,
) (*explore.Shrunk, error) {
	t, err := harness.ReadTrial(cat, from, c.Run.Version)
	if err != nil {
		return nil, err
	}
	r, err := harness.ReadResults(from)
	if err != nil {
		return nil, err
	}
	check := ""
	if all := c.Expect.Deviating(r, c.Expect.Compare(r.ExitCode, r)); len(all) > 0 {
		check = all[0].Check
	}
	target, at, ok := explore.TargetOf(r, check)
	if !ok {
		return nil, nil //nolint:nilnil // there is nothing to make smaller
	}
	limited, stop := context.WithTimeout(ctx, shrinkFor(c.Search))
	defer stop()
	made, err := (&explore.Shrinker{Catalogue: cat, Target: target, Runs: shrinkRuns, Rate: shrinkRate, Dir: to, Run: run}).Shrink(
		limited, t, at)
	if made.Dir == "" {
		made = nil
	}
	if errors.Is(err, explore.ErrNotAgain) || limited.Err() != nil {
		err = nil
	}
	return made, err
}

// shrinkLeast is how long it is tried at least to make a run smaller: each step takes several runs.
var shrinkLeast = time.Minute

// shrinkFor is how long a run that a search has found is made smaller at most.
func shrinkFor(s *suite.Search) time.Duration { return max(s.For, shrinkLeast) }

// settle makes a run that was found that of the case.
func settle(from, dir string) (*harness.RunOutcome, error) {
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(from); err != nil {
		return nil, err
	}
	r, err := harness.ReadResults(dir)
	if err != nil {
		return nil, err
	}
	return &harness.RunOutcome{Dir: dir, Seed: r.Seed, Results: r}, nil
}

// madeWith is the configuration of a run that was made.
func madeWith(dir string) (cfg harness.Config, err error) {
	b, err := os.ReadFile(filepath.Join(dir, harness.TrialFile))
	if err != nil {
		return cfg, err
	}
	return harness.TrialConfig(b)
}
