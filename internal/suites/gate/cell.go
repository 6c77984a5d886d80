package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// CellResult is the outcome of a cell.
type CellResult struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Row     string `json:"row"`
	Column  string `json:"column"`
	Control bool   `json:"control,omitempty"`
	// its runs were chosen for what they show: by a search, or to be repeated
	Chosen   bool                   `json:"chosen,omitempty"`
	Status   Status                 `json:"status"`
	Outcome  suite.Outcome          `json:"word,omitempty"` // the worst of its runs; empty: nobody can tell
	Expected suite.Expectation      `json:"expected"`
	Failed   map[string]int         `json:"failed,omitempty"`    // required checks, and in how many runs
	FailedAs map[string]int         `json:"failed_as,omitempty"` // the same by check and class, as "ownership (defect)"
	Why      []string               `json:"why,omitempty"`       // it is not as expected, or not run
	Deviates []suite.Deviation      `json:"deviates,omitempty"`  // in what: a baseline knows these
	AsIt     int                    `json:"as_expected"`         // runs
	Of       int                    `json:"of"`                  // runs
	TTL      time.Duration          `json:"ttl_ns,omitempty"`
	Command  string                 `json:"command"`
	Again    string                 `json:"again,omitempty"` // the command of the run that Why tells first
	Figures  map[string]tally.Value `json:"figures,omitempty"`
	// the highest chance of a violation for an exposure, where there was none
	NoneIn    float64     `json:"none_in,omitempty"`
	Broken    []string    `json:"thresholds_missed,omitempty"`
	Runs      []RunResult `json:"runs,omitempty"`
	Exposures int64       `json:"exposures"`

	remarks []remark
}

// remark is one reason why a cell is not as expected.
type remark struct {
	status Status
	why    string
	of     []suite.Deviation
	run    *RunResult // that it is about; nil: the cell
}

func (r remark) quoted() *Quoted {
	if r.run == nil {
		return nil
	}
	return r.run.Quoted
}

// Line is the command that shows again what is told first of a cell that is not as expected, with its seed;
// of a cell that is, the command of all its runs.
func (j CellResult) Line() string { return cmp.Or(j.Again, j.Command) }

// Samples are the measurements of the runs that were judged.
func (j CellResult) Samples() []tally.Sample {
	answered := lists.Filter(j.Runs, func(o RunResult) bool { return o.Stats != nil && o.Status != Inconclusive })
	return lists.Map(answered, RunResult.Sample)
}

// Sample is what one run measured.
func (o RunResult) Sample() tally.Sample {
	s := tally.Sample{Stats: checker.Figures{}, Length: o.Length}
	for name, v := range o.Stats {
		s.Stats[name] = v
	}
	if o.Exit == harness.ExitPass || o.Exit == harness.ExitViolation {
		s.Stats[tally.Violated] = int64(o.Exit)
	}
	return s
}

func (o RunResult) busy() bool { return suite.Busy(o.Stats, int64(o.Length)) }

func judgeCell(c plan.Cell, runs []RunResult, least int64) CellResult {
	j := CellResult{
		Name: c.Case.Name, Text: c.Case.Text, Row: c.Row, Column: c.Column, Control: c.Control,
		Chosen:   c.Case.Search != nil || c.Case.Trial != nil,
		Expected: c.Case.Expect, TTL: cmp.Or(c.Case.Run.TTL, time.Second),
		Command: CommandOf(c.Case), Runs: runs, Of: max(len(c.Seeds), len(runs)), Status: Expected,
	}
	if c.Skip != "" {
		j.Status, j.Why = Skipped, []string{c.Skip}
		return j
	}
	j.runs(c)
	j.figures(c, least)
	j.thresholds(c)
	j.settle()
	return j
}

// say adds a reason why the cell is not as expected.
func (j *CellResult) say(s Status, of []suite.Deviation, format string, args ...any) {
	j.remarks = append(j.remarks, remark{status: s, why: fmt.Sprintf(format, args...), of: of})
	j.Status = worst(j.Status, s)
}

// settle makes the status and the words of the remarks: those that made the status first, and among them by
// the finding that they quote.
func (j *CellResult) settle() {
	slices.SortStableFunc(j.remarks, func(a, b remark) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.status), slices.Index(order, b.status)), compareQuoted(a.quoted(), b.quoted()))
	})
	j.Status, j.Why, j.Deviates, j.Again = Expected, nil, nil, ""
	if len(j.remarks) > 0 && j.remarks[0].run != nil && j.remarks[0].status != Expected {
		j.Again = j.remarks[0].run.Command
	}
	for _, r := range j.remarks {
		j.Status = worst(j.Status, r.status)

		j.Why = lists.With(j.Why, r.why)
		for _, d := range r.of {
			j.Deviates = lists.With(j.Deviates, d)
		}
	}
}

// runs combines the runs: the worst word, and why they are not as expected. A run that passes where a violation is
// expected is no surprise as long as another seed shows the violation.
func (j *CellResult) runs(c plan.Cell) {
	j.AsIt = len(lists.Filter(j.Runs, func(o RunResult) bool { return o.Status == Expected }))
	if missing := len(c.Seeds) - seedsOf(j.Runs); missing > 0 {
		j.say(NotRun, nil, "no run was made for %d of %s", missing, checker.Count(len(c.Seeds), "seed"))
	}
	for _, o := range j.Runs {
		if o.Outcome != "" && o.Status != Inconclusive {
			j.Outcome = suite.WorseOf(j.Outcome, o.Outcome)
			j.fails(o)
		}
		status, of := o.Status, o.Deviates
		switch {
		case status == Expected:
			continue
		case status == Passed && j.AsIt > 0:
			status, of = Expected, nil
		}
		why := o.Why()
		if o.Host {
			why += " (the host disturbed the run)"
		}
		j.say(status, of, "seed %d: %s", o.Seed, why)
		j.remarks[len(j.remarks)-1].run = &o
	}
}

func seedsOf(runs []RunResult) int {
	seen := map[uint64]bool{}
	for _, o := range runs {
		seen[o.Seed] = true
	}
	return len(seen)
}

// fails counts the required checks that fail, and by the classes of what they found.
func (j *CellResult) fails(o RunResult) {
	for name, c := range o.Checks {
		if !c.Required || c.Verdict != checker.Fail {
			continue
		}
		if j.Failed == nil {
			j.Failed, j.FailedAs = map[string]int{}, map[string]int{}
		}
		j.Failed[name]++
		for _, class := range c.Certain {
			j.FailedAs[suite.Deviation{Check: name, Class: class}.String()]++
		}
	}
}

// figures are those that the runs measured. A cell of faults that never struck shows nothing, nor does one whose
// clients never changed the data that they were to keep.
func (j *CellResult) figures(c plan.Cell, least int64) {
	all := j.Samples()
	j.Figures = map[string]tally.Value{}
	for _, f := range tally.Figures() {
		if v, ok := f.Over(all); ok {
			j.Figures[f.Name] = v
		}
	}
	j.Exposures = int64(j.Figures["exposures"].Value)
	if j.Outcome == suite.Safe && j.Exposures > 0 {
		j.NoneIn = tally.NoneIn(j.Exposures)
	}
	if updates, measured := j.Figures["updates"]; measured && updates.Value == 0 && j.Outcome == suite.Safe &&
		j.Status == Expected && judges(c) {
		j.say(Inconclusive, nil, "no update of the data was acknowledged (grants of the lock: %.0f), so the data checks had nothing "+
			"to judge", j.Figures["grants"].Value)
	}
	least = max(least, 1)
	if shows(c) && len(all) > 0 && j.Exposures < least && j.Status == Expected {
		j.say(Inconclusive, nil, "too few faults took effect for a verdict: %d (the suite needs at least %d)", j.Exposures, least)
	}
}

// shows reports whether a cell is to show what faults do.
func shows(c plan.Cell) bool {
	return slices.ContainsFunc(c.Case.Run.Nemesis, func(n string) bool { return n != "none" }) && judges(c)
}

// judges reports whether a cell wants a verdict.
func judges(c plan.Cell) bool { return !slices.Contains(c.Case.Expect.Exit, harness.ExitUnknown) }

func (j *CellResult) thresholds(c plan.Cell) {
	all := j.Samples()
	if len(all) == 0 {
		return // what became of its runs says it
	}
	for _, t := range c.Thresholds {
		got, holds, err := t.Holds(all, j.TTL)
		switch {
		case errors.Is(err, tally.ErrNotMeasured):
			j.say(Inconclusive, nil, "the threshold %s cannot be tested: %v", t.Text, err)
		case !holds && t.Figure.Timed() && slices.ContainsFunc(j.Runs, RunResult.busy):
			j.say(Inconclusive, nil, "the threshold %s is not met (measured: %s), but the host was too busy for reliable times: run the "+
				"suite again while the host is idle", t.Text, t.Figure.With(got))
		case !holds:
			j.Broken = append(j.Broken, t.Text)
			j.say(Missed, []suite.Deviation{{Threshold: t.Text}}, "the threshold %s is not met (measured: %s)", t.Text, t.Figure.With(got))
		}
	}
}

// shown reports whether a cell has a verdict.
func (j CellResult) shown() bool {
	return len(j.Runs) > 0 && !slices.Contains([]Status{Broken, Inconclusive, NotRun, Skipped}, j.Status)
}
