package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/explore/search"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// Files of a suite's directory.
const (
	DefinitionFile = "suite.json"
	ResultsFile    = "results.json"
	OutcomeFile    = "outcome.json" // in the directory of a run
	runsDir        = "runs"
)

// program is that of suites that do not say it.
const program = "lockstorm"

// Schema is the version of suite.json and of a suite's results.json.
const Schema = 1

// Definition is what a suite is made of, as it is stored before anything runs.
type Definition struct {
	Schema   int               `json:"schema"`
	Name     string            `json:"name"`
	Doc      string            `json:"doc,omitempty"`
	Source   string            `json:"source"`            // the text of the suite file
	Program  string            `json:"program,omitempty"` // that runs its commands
	Version  string            `json:"version"`
	Started  time.Time         `json:"started"`
	CPUs     int               `json:"cpus"`
	Shard    string            `json:"shard,omitempty"`
	Replaced map[string]string `json:"replaced,omitempty"`
	Required plan.Required     `json:"required"`
	Cells    []plan.Cell       `json:"cells"`
	Whole    []string          `json:"whole,omitempty"`     // all cells of the suite of which this is a shard
	WholeSum string            `json:"whole_sum,omitempty"` // their fingerprint, seeds and all
	Compare  bool              `json:"compare,omitempty"`   // its locks are compared, and nothing is expected of them
}

// RunDir is the directory of a run below that of the suite.
func RunDir(cell string, seed uint64, attempt int) string {
	name := fmt.Sprintf("seed-%d", seed)
	if attempt > 0 {
		name += fmt.Sprintf("-again-%d", attempt)
	}
	return filepath.Join(runsDir, filepath.FromSlash(cell), name)
}

// Suite is a definition with the outcomes that there are.
type Suite struct {
	Definition

	Outcomes []RunResult
	Missing  []string // cells that no part of it has
	merged   bool     // it was put together, and what it lacks is missing
	// Interrupted says that it was stopped; Dir that it is stored there.
	Interrupted bool
	Dir         string
	// EndsEarly says that a run ends its work once its record shows all that is expected. Others compare what it measures.
	EndsEarly bool
	// Share is the corpus of a search that other searches of its cell share; nil: each search learns alone.
	Share func(cell plan.Cell, seed uint64) search.Share
}

// Load reads a suite from its directory: one that has ended, or one that was killed.
func Load(dir string) (*Suite, error) {
	s := &Suite{Dir: dir}
	err := files.ReadJSON(filepath.Join(dir, DefinitionFile), maxResults, &s.Definition)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the directory of a suite: it does not contain the file %s", dir, DefinitionFile)
	}
	if err != nil {
		return nil, err
	}
	s.Program = cmp.Or(s.Program, program)
	if s.Schema != Schema {
		return nil, fmt.Errorf("%s has schema %d, but this version of lockstorm reads only schema %d: use the version of lockstorm "+
			"that wrote the file", filepath.Join(dir, DefinitionFile), s.Schema, Schema)
	}
	for _, c := range s.Cells {
		for _, seed := range c.Seeds {
			if err := s.loadRun(c.Case.Name, seed); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// loadRun reads the attempts of one run; the last one counts, and all are kept.
func (s *Suite) loadRun(cell string, seed uint64) error {
	for attempt := 0; ; attempt++ {
		dir := RunDir(cell, seed, attempt)
		var o RunResult
		err := files.ReadJSON(filepath.Join(s.Dir, dir, OutcomeFile), maxResults, &o)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		o.Dir = dir
		s.Outcomes = append(s.Outcomes, o)
	}
}

// last are the outcomes of a cell that count, by seed: of each the last attempt, unless an earlier one was not disturbed and is
// worse; of a cell that several machines have run those of all.
func (s *Suite) last(cell string) []RunResult {
	var out []RunResult
	for _, o := range s.Outcomes {
		if o.Cell != cell {
			continue
		}
		earlier := len(out) - 1
		for earlier >= 0 && (o.Attempt == 0 || out[earlier].Seed != o.Seed) {
			earlier--
		}
		if earlier < 0 {
			out = append(out, o)
		} else if o.Counts(&out[earlier]) {
			out[earlier] = o
		}
	}
	slices.SortStableFunc(out, func(a, b RunResult) int { return cmp.Compare(a.Seed, b.Seed) })
	return out
}

// wall is the time in which any attempt ran, however often the suite was stopped in between. Shards ran on
// machines of their own: they have none together. Of runs that do not say when they began nobody knows it.
func (s *Suite) wall() time.Duration {
	if strings.Contains(s.Shard, " ") || slices.ContainsFunc(s.Outcomes, func(o RunResult) bool { return o.Began.IsZero() }) {
		return 0
	}
	runs := lists.Map(s.Outcomes, func(o RunResult) history.Interval {
		return history.Interval{From: o.Began.UnixNano(), To: o.Began.Add(o.Took).UnixNano()}
	})
	slices.SortFunc(runs, func(a, b history.Interval) int { return cmp.Compare(a.From, b.From) })
	return time.Duration(history.Interval{To: math.MaxInt64}.Covered(runs))
}

// begin stores the definition in a directory that is empty or absent; to go on with one that is there,
// it must be the same suite.
func (s *Suite) begin(resume bool) error {
	b, err := files.Claim(s.Dir, DefinitionFile, s.Definition)
	switch full := errors.Is(err, files.ErrNotEmpty); {
	case b == nil && !full:
		return err
	case !resume:
		return fmt.Errorf("--out %s is not empty, and runs are never overwritten: use --resume to continue the suite in this "+
			"directory, or choose a new directory", s.Dir)
	}
	before, err := Load(s.Dir)
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	if err := sameCells(before.Cells, s.Cells); err != nil {
		return fmt.Errorf("--resume: %s contains another suite (%w): name a new directory", s.Dir, err)
	}
	s.Started, s.Outcomes = before.Started, before.Outcomes
	return nil
}

// sameCells compares two definitions.
func sameCells(a, b []plan.Cell) error {
	if len(a) != len(b) {
		return fmt.Errorf("the suite file now has %d cells, but the suite in the directory has %d cells", len(a), len(b))
	}
	for i := range a {
		x, errA := json.Marshal(a[i])
		y, errB := json.Marshal(b[i])
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		if !slices.Equal(x, y) {
			return fmt.Errorf("the definition of cell %s has changed since the suite was started in this directory", b[i].Case.Name)
		}
	}
	return nil
}
