package gate

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/explore/search"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/shell"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

// Attempt makes a run of a cell in its directory below that of the suite, and stores what came of it there. The error is of the
// directory, or that ctx ended: then the attempt says nothing.
func (s *Suite) Attempt(ctx context.Context, cat *harness.Catalogue, cell plan.Cell, seed uint64, attempt int) (*RunResult,
	error,
) {
	dir := RunDir(cell.Case.Name, seed, attempt)
	path := filepath.Join(s.Dir, dir)
	if err := os.RemoveAll(path); err != nil { // of one that was cut off
		return nil, err
	}
	began := time.Now()
	c := s.caseOf(cell, seed, dir)
	var share search.Share
	if s.Share != nil {
		share = s.Share(cell, seed)
	}
	out, found, differs, err := s.do(ctx, cat, &c, path, share)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	o := &RunResult{
		Cell: c.Name, Seed: seed, Attempt: attempt, Differs: differs, Length: c.Run.Time,
		Began: began.UTC().Round(time.Millisecond), Took: time.Since(began).Round(time.Millisecond),
		Command: CommandOf(c), Dir: dir, Search: found,
	}
	if (c.Search != nil || c.Trial != nil) && err == nil { // its plan is not that of any flags
		o.Command = shell.Join("replay", filepath.ToSlash(dir))
	}
	if err != nil {
		o.Exit, o.Error = cmp.Or(harness.CodeOf(err), harness.ExitPanic), err.Error()
	}
	var results *checker.Results
	if out != nil {
		results, o.Exit = out.Results, out.ExitCode()
		if out.Worked > 0 {
			o.Early, o.Length = true, out.Worked
		}
		if found != nil && found.Shrunk != nil {
			o.Length = found.Shrunk.After.Time
		}
		o.summarize(results, c.Expect)
		if out.Trouble != nil {
			o.Error = out.Trouble.Error()
		}
	}
	o.Status = excused(statusOf(c.Expect, o.Exit, results, differs, err), results)
	o.Host, o.Unstruck = byHost(o.Status, results), shows(cell) && unstruck(results)
	if found != nil && results == nil && o.Status == Inconclusive && found.Unjudged > 0 { // none of its runs came to a verdict
		o.Host = true
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	return o, files.WriteJSON(filepath.Join(path, OutcomeFile), o)
}

// caseOf is the case of a cell with a seed, as it is run.
func (s *Suite) caseOf(cell plan.Cell, seed uint64, dir string) suite.Case {
	c := cell.Case.Seeded(seed)
	c.Run.Version = s.Version
	c.Run.Command = s.again(c, dir)
	if s.EndsEarly && len(cell.Thresholds) == 0 {
		c.Run.Enough = c.Expect.Settled
	}
	return c
}

// again is the command that makes the run of a case again. One with a plan that no flags make is repeated out of its directory,
// which is told as it is from that of the suite.
func (s *Suite) again(c suite.Case, dir string) string {
	words := append([]string{"run"}, c.Run.Args()...)
	if c.Search != nil || c.Trial != nil {
		words = []string{"replay", filepath.ToSlash(dir)}
	}
	return shell.Join(append([]string{cmp.Or(s.Program, program)}, words...)...)
}

// CommandOf is what a case is made with, without the program: the flags of its run, or those of its search.
func CommandOf(c suite.Case) string {
	if c.Search == nil {
		return c.Run.Line()
	}
	kept := harness.Defaults() // the search chooses the rest
	kept.Backend, kept.Arguments, kept.Topology, kept.TTL = c.Run.Backend, c.Run.Arguments, c.Run.Topology, c.Run.TTL
	kept.Fencing, kept.Discipline, kept.FailOn = c.Run.Fencing, c.Run.Discipline, c.Run.FailOn
	words := []string{"explore", "--for", c.Search.For.String()}
	for _, f := range []struct {
		flag  string
		names []string
	}{{"--only", c.Search.Only}, {"--without", c.Search.Without}, {"--vary", c.Search.Vary}} {
		if len(f.names) > 0 {
			words = append(words, f.flag, strings.Join(f.names, ","))
		}
	}
	return shell.Join(append(words, kept.Args()...)...)
}

// do makes the run of a case, or its search.
func (s *Suite) do(ctx context.Context, cat *harness.Catalogue, c *suite.Case,
	path string, share search.Share,
) (*harness.RunOutcome, *Searched, []suite.Difference, error) {
	if c.Search == nil {
		out, differs, err := c.Do(ctx, cat, path)
		return out, nil, differs, err
	}
	out, found, err := searched(ctx, cat, c, path, share)
	if err != nil {
		differs, err := c.Refused(err)
		return nil, found, differs, err
	}
	return out, found, c.Expect.Compare(out.ExitCode(), out.Results), nil
}

// Disturbed reports whether a run may be made once more: the host held it up, or something was missing at the moment. One that
// was refused for its configuration never changes its mind.
func (o *RunResult) Disturbed() bool {
	return (o.Status == Inconclusive && o.Host) || (o.Status == Expected && o.Unstruck) ||
		(o.Status == Broken && o.Exit == harness.ExitEnvironment)
}

// Counts reports whether an attempt counts instead of an earlier one of the same run: that one was disturbed, or it is worse.
// Only campaigns make a run again that was not disturbed.
func (o *RunResult) Counts(earlier *RunResult) bool {
	switch {
	case earlier.Disturbed():
		return true
	case o.Disturbed():
		return false
	}
	return worst(o.Status, earlier.Status) == o.Status
}
