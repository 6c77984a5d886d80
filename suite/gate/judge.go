package gate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/suite/plan"
	"github.com/lockstorm/lockstorm/suite/tally"
)

// Results are what a suite came to: results.json of its directory. docs/suite.md describes it.
type Results struct {
	Schema      int               `json:"schema"`
	Name        string            `json:"name"`
	Doc         string            `json:"doc,omitempty"`
	Verdict     string            `json:"verdict"` // in words
	ExitCode    int               `json:"exit_code"`
	Interrupted bool              `json:"interrupted,omitempty"`
	Started     time.Time         `json:"started"`
	Wall        time.Duration     `json:"wall_ns,omitempty"` // in which something ran; 0: on several machines
	Work        time.Duration     `json:"work_ns"`           // of all attempts, one after the other
	CPUs        int               `json:"cpus"`
	Program     string            `json:"program,omitempty"` // that runs its commands
	Version     string            `json:"version"`
	Versions    map[string]string `json:"versions,omitempty"` // of servers and libraries
	Shards      []string          `json:"shards,omitempty"`
	Replaced    map[string]string `json:"replaced,omitempty"`
	Counts      map[Status]int    `json:"counts"`             // cells, controls left out
	Lacks       []string          `json:"lacks,omitempty"`    // required coverage that was not shown
	Controls    []string          `json:"controls,omitempty"` // that misbehave
	Baseline    *Against          `json:"baseline,omitempty"`
	Cells       []Judged          `json:"cells"`
}

// Judged is what a cell came to.
type Judged struct {
	Name      string                 `json:"name"`
	Text      string                 `json:"text"`
	Row       string                 `json:"row"`
	Column    string                 `json:"column"`
	Control   bool                   `json:"control,omitempty"`
	Status    Status                 `json:"status"`
	Word      suite.Word             `json:"word,omitempty"` // the worst of its runs; empty: nobody can tell
	Expected  suite.Expectation      `json:"expected"`
	Failed    map[string]int         `json:"failed,omitempty"` // required checks, and in how many runs
	Why       []string               `json:"why,omitempty"`    // it is not as expected, or not run
	AsIt      int                    `json:"as_expected"`      // runs
	Of        int                    `json:"of"`               // runs
	TTL       time.Duration          `json:"ttl_ns,omitempty"`
	Command   string                 `json:"command"`
	Figures   map[string]tally.Value `json:"figures,omitempty"`
	NoneIn    float64                `json:"none_in,omitempty"` // the highest chance of a violation for an exposure, where there was none
	Broken    []string               `json:"thresholds_missed,omitempty"`
	Runs      []Outcome              `json:"runs,omitempty"`
	Exposures int64                  `json:"exposures"`
}

// Line is the command that shows again what is not as expected, with its seed; of a cell that is, the
// command of all its runs.
func (j Judged) Line() string {
	for _, o := range j.Runs {
		if o.Status == j.Status && o.Status != Expected {
			return o.Command
		}
	}
	return j.Command
}

// Again are the runs that were made more than once, each with its last attempt.
func (r *Results) Again() (out []string) {
	for _, j := range r.Cells {
		for _, o := range j.Runs {
			if o.Attempt > 0 {
				out = append(out, fmt.Sprintf("%s seed %d (%d times)", j.Name, o.Seed, o.Attempt+1))
			}
		}
	}
	return out
}

// Providers says how many runs had their servers from whom, as "process 28, container 2".
func (r *Results) Providers() string {
	runs := map[string]int{}
	for _, j := range r.Cells {
		for _, o := range j.Runs {
			if o.Provider != "" {
				runs[o.Provider]++
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(runs), func(a, b string) int {
		return cmp.Or(cmp.Compare(runs[b], runs[a]), cmp.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, runs[n])
	}
	return strings.Join(names, ", ")
}

// Samples are what its runs measured that came to an answer.
func (j Judged) Samples() []tally.Sample { return samples(j.Runs) }

// Sample is what one run measured.
func (o Outcome) Sample() tally.Sample {
	s := tally.Sample{Stats: checker.Figures{}, Length: o.Length}
	for name, v := range o.Stats {
		s.Stats[name] = v
	}
	if o.Exit == harness.ExitPass || o.Exit == harness.ExitViolation {
		s.Stats[tally.Violated] = int64(o.Exit)
	}
	return s
}

func samples(runs []Outcome) (out []tally.Sample) {
	for _, o := range runs {
		if o.Stats != nil && o.Status != Inconclusive {
			out = append(out, o.Sample())
		}
	}
	return out
}

// Judge says what became of every cell, and of the suite.
func (s *Suite) Judge() (*Results, error) {
	r := &Results{
		Schema: Schema, Name: s.Name, Doc: s.Doc, Interrupted: s.Interrupted, Started: s.Started, Wall: s.wall(), CPUs: s.CPUs, Program: cmp.Or(s.Program, program), Version: s.Version,
		Replaced: s.Replaced, Counts: map[Status]int{}, Versions: map[string]string{},
	}
	if s.Shard != "" {
		r.Shards = strings.Split(s.Shard, " ")
	}
	var cells []plan.Cell
	for _, d := range s.Cells {
		c, err := d.cell()
		if err != nil {
			return nil, err
		}
		j := judgeCell(c, s.last(c.Name), s.Required.Exposures)
		r.Cells = append(r.Cells, j)
		if !j.Control {
			r.Counts[j.Status]++
		}
		for _, o := range j.Runs {
			for name, v := range o.Servers {
				r.Versions[name] = v
			}
		}
		cells = append(cells, c)
	}
	for _, o := range s.Outcomes {
		r.Work += o.Took
	}
	r.Lacks = r.lacking(s.Required, cells)
	for _, shard := range s.Absent {
		r.Lacks = append(r.Lacks, "shard "+shard)
	}
	r.conclude()
	return r, nil
}

func judgeCell(c plan.Cell, runs []Outcome, least int64) Judged {
	j := Judged{
		Name: c.Name, Text: c.Text, Row: c.Row, Column: c.Column, Control: c.Control, Expected: c.Expect, TTL: cmp.Or(c.Run.TTL, time.Second),
		Command: c.Run.Line(), Runs: runs, Of: len(c.Seeds), Status: Expected,
	}
	if c.Skip != "" {
		j.Status, j.Why = Skipped, []string{c.Skip}
		return j
	}
	passed := 0
	for _, o := range runs {
		if o.Status == Expected {
			j.AsIt++
		}
		if o.Status == Passed {
			passed++
			continue
		}
		j.Status = worst(j.Status, o.Status)
	}
	if passed > 0 && j.AsIt == 0 { // one seed that shows what is wrong is enough
		j.Status = worst(j.Status, Passed)
	}
	j.Of = max(j.Of, len(runs))
	if missing := len(c.Seeds) - seedsOf(runs); missing > 0 {
		j.Status = worst(j.Status, NotRun)
		j.Why = append(j.Why, fmt.Sprintf("%d of %d seeds were not run", missing, len(c.Seeds)))
	}
	j.words(runs)
	j.figures(c, least)
	j.thresholds(c)
	return j
}

func seedsOf(runs []Outcome) int {
	seen := map[uint64]bool{}
	for _, o := range runs {
		seen[o.Seed] = true
	}
	return len(seen)
}

// words gathers what the runs say: the worst word, and why they are not as expected.
func (j *Judged) words(runs []Outcome) {
	for _, o := range runs {
		if o.Word != "" && o.Status != Inconclusive {
			j.Word = suite.Worse(j.Word, o.Word)
			j.fails(o)
		}
		if o.Status == Expected {
			continue
		}
		why := o.why()
		if o.Host {
			why += " (the host held the run up)"
		}
		if why = fmt.Sprintf("seed %d: %s", o.Seed, why); !slices.Contains(j.Why, why) {
			j.Why = append(j.Why, why)
		}
	}
}

// fails counts the required checks that fail.
func (j *Judged) fails(o Outcome) {
	for name, c := range o.Checks {
		if c.Required && c.Verdict == checker.Fail {
			if j.Failed == nil {
				j.Failed = map[string]int{}
			}
			j.Failed[name]++
		}
	}
}

// figures are those that the runs measured. A cell of faults that never struck shows nothing, nor does one whose
// clients never changed the data that they were to keep.
func (j *Judged) figures(c plan.Cell, least int64) {
	all := j.Samples()
	j.Figures = map[string]tally.Value{}
	for _, f := range tally.Figures() {
		if v, ok := f.Over(all); ok {
			j.Figures[f.Name] = v
		}
	}
	j.Exposures = int64(j.Figures["exposures"].Value)
	if j.Word == suite.Safe && j.Exposures > 0 {
		j.NoneIn = tally.NoneIn(j.Exposures)
	}
	if updates, measured := j.Figures["updates"]; measured && updates.Value == 0 && j.Word == suite.Safe && j.Status == Expected && judges(c) {
		j.Status = Inconclusive
		j.Why = append(j.Why, fmt.Sprintf("no update was acknowledged in %.0f grants: the data had nothing to show", j.Figures["grants"].Value))
	}
	least = max(least, 1)
	if shows(c) && len(all) > 0 && j.Exposures < least && j.Status == Expected {
		j.Status = Inconclusive
		j.Why = append(j.Why, fmt.Sprintf("faults took effect %d times, and %d are wanted", j.Exposures, least))
	}
}

// shows reports whether a cell is to show what faults do.
func shows(c plan.Cell) bool {
	return slices.ContainsFunc(c.Run.Nemesis, func(n string) bool { return n != "none" }) && judges(c)
}

// judges reports whether a cell wants a verdict.
func judges(c plan.Cell) bool { return !slices.Contains(c.Expect.Exit, harness.ExitUnknown) }

func (j *Judged) thresholds(c plan.Cell) {
	all := j.Samples()
	if len(all) == 0 {
		return // what became of its runs says it
	}
	for _, t := range c.Thresholds {
		got, holds, err := t.Holds(all, j.TTL)
		switch {
		case errors.Is(err, tally.ErrNotMeasured):
			j.Status = worst(j.Status, Inconclusive)
			j.Why = append(j.Why, fmt.Sprintf("threshold %s: %v", t.Text, err))
		case !holds:
			j.Status = worst(j.Status, Missed)
			j.Broken = append(j.Broken, t.Text)
			j.Why = append(j.Why, fmt.Sprintf("threshold %s: it is %s", t.Text, t.Figure.With(got)))
		}
	}
}

// shown reports whether a cell came to an answer.
func (j Judged) shown() bool {
	return len(j.Runs) > 0 && !slices.Contains([]Status{Broken, Inconclusive, NotRun, Skipped}, j.Status)
}

// lacking is the required coverage of which no cell came to an answer. cells and what they came to are in
// the same order.
func (r *Results) lacking(want plan.Required, cells []plan.Cell) (out []string) {
	shown := func(backend, nemesis string) bool {
		for i, c := range cells {
			if !c.Control && r.Cells[i].shown() && c.Covers(backend, nemesis) {
				return true
			}
		}
		return false
	}
	for _, b := range want.Backends {
		if !shown(b, "") {
			out = append(out, "backend "+b)
		}
	}
	for _, n := range want.Nemeses {
		if !shown("", n) {
			out = append(out, "nemesis "+n)
		}
	}
	return out
}

// conclude is the exit code and the verdict in words. A control that misbehaves stands above all: then no
// verdict counts.
func (r *Results) conclude() {
	all := Expected
	r.Controls = nil
	for _, j := range r.Cells {
		switch {
		case !j.Control:
			all = worst(all, j.Status)
		case slices.Contains([]Status{Worse, Passed, Missed, Broken}, j.Status):
			r.Controls = append(r.Controls, j.Name)
		case j.Status != Expected:
			all = worst(all, Inconclusive)
		}
	}
	if len(r.Lacks) > 0 {
		all = worst(all, Inconclusive)
	}
	r.ExitCode = all.Code()
	r.Verdict = r.sentence()
	switch {
	case len(r.Controls) > 0:
		r.ExitCode = harness.ExitEnvironment
		r.Verdict = "a control misbehaves (" + strings.Join(r.Controls, ", ") + "): no verdict of this suite counts"
	case r.Interrupted:
		r.ExitCode = harness.ExitInterrupted
		r.Verdict = "interrupted (what was run is kept); " + r.Verdict
	}
}

// sentence counts the cells.
func (r *Results) sentence() string {
	var parts []string
	total := 0
	for _, s := range order {
		if n := r.Counts[s]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	text := fmt.Sprintf("%d cells: %s", total, strings.Join(parts, ", "))
	if len(r.Lacks) > 0 {
		text += "; not shown: " + strings.Join(r.Lacks, ", ")
	}
	return text
}
