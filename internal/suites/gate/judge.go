package gate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// SuiteResults are the outcome of a suite: results.json of its directory. docs/suite.md describes it.
type SuiteResults struct {
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
	Compare     bool              `json:"compare,omitempty"` // nothing is expected of its locks
	Deviations  bool              `json:"deviations"`        // its cells say in what they deviate: earlier ones did not
	Answer      *answer.Ranking   `json:"answer,omitempty"`  // which lock: a row for each
	Cells       []CellResult      `json:"cells"`
}

// Again are the runs that were made more than once, each with its last attempt.
func (r *SuiteResults) Again() (out []string) {
	for _, j := range r.Cells {
		for _, o := range j.Runs {
			if o.Attempt > 0 {
				out = append(out, fmt.Sprintf("%s seed %d (%d attempts)", j.Name, o.Seed, o.Attempt+1))
			}
		}
	}
	return out
}

// Providers says how many runs had their servers from whom, as "process 28, container 2".
func (r *SuiteResults) Providers() string {
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
		if n == cluster.NoServers {
			names[i] = fmt.Sprintf("no servers %d", runs[n])
		}
	}
	return strings.Join(names, ", ")
}

// Judge says what became of every cell, and of the suite, beside a baseline, if there is one.
func (s *Suite) Judge(before *SuiteResults) *SuiteResults {
	r := &SuiteResults{
		Schema: Schema, Name: s.Name, Doc: s.Doc, Interrupted: s.Interrupted, Started: s.Started, Wall: s.wall(), CPUs: s.CPUs,
		Program: cmp.Or(s.Program, program), Version: s.Version,
		Replaced: s.Replaced, Compare: s.Compare, Deviations: true, Counts: map[Status]int{}, Versions: map[string]string{},
	}
	if s.Shard != "" {
		r.Shards = strings.Split(s.Shard, " ")
	}
	for _, c := range s.Cells {
		j := judgeCell(c, s.last(c.Case.Name), s.Required.Exposures)
		r.Cells = append(r.Cells, j)
		if !j.Control {
			r.Counts[j.Status]++
		}
		for _, o := range j.Runs {
			maps.Copy(r.Versions, o.Servers)
		}
	}
	for _, o := range s.Outcomes {
		r.Work += o.Took
	}
	r.Answer = r.choice()
	if s.merged || len(absent(s.Shard)) == 0 { // a shard alone has not the cells to show what the whole must
		r.Lacks = r.lacking(s.Required, s.Cells)
	}
	r.Lacks = append(r.Lacks, s.Missing...)
	r.conclude()
	if before != nil {
		r.Measure(before)
	}
	return r
}

// Keep writes results.json into a directory, and into the pages of the runs where else they lead.
func (s *Suite) Keep(dir string, r *SuiteResults) (err error) {
	if !s.merged { // the runs of shards stay what they are
		err = s.trails()
	}
	return errors.Join(err, files.WriteJSON(filepath.Join(dir, ResultsFile), r))
}

// lacking returns the required coverage of which no cell has a verdict. cells and their results are in the same
// order.
func (r *SuiteResults) lacking(want plan.Required, cells []plan.Cell) (out []string) {
	for kind, name := range want.Each {
		shown, by := false, name
		if kind == plan.OfBackend {
			by = cmp.Or(r.Replaced[name], name)
		}
		for i, c := range cells {
			shown = shown || !c.Control && r.Cells[i].shown() && c.Covers(kind, by)
		}
		if !shown {
			out = append(out, kind+" "+name)
		}
	}
	return out
}

// conclude is the exit code and the verdict in words. A control that misbehaves stands above all: then no
// verdict counts. A suite of which nothing was judged is inconclusive, whatever the reason.
func (r *SuiteResults) conclude() {
	all := Expected
	r.Controls = nil
	for _, j := range r.Cells {
		switch {
		case !j.Control:
			all = worst(all, j.Status)
		case slices.Contains([]Status{Violation, Passed, Missed, Broken}, j.Status):
			r.Controls = append(r.Controls, j.Name)
		case j.Status != Expected:
			all = worst(all, Inconclusive)
		}
	}
	if len(r.Lacks) > 0 || r.nothing() != "" {
		all = worst(all, Inconclusive)
	}
	r.ExitCode = all.Code()
	r.Verdict = r.sentence()
	switch {
	case len(r.Controls) > 0:
		r.ExitCode = harness.ExitEnvironment
		r.Verdict = "controls had an unexpected outcome: " + strings.Join(r.Controls, ", ") +
			"; no verdict of this suite counts"
	case r.Interrupted:
		r.ExitCode = harness.ExitInterrupted
		r.Verdict = "the suite was interrupted: the finished runs are kept and judged; " + r.Verdict
	}
}

// nothing says why nothing was judged; empty where something was. A shard that has none of the cells is none
// the worse for it: merge asks for them all.
func (r *SuiteResults) nothing() string {
	switch {
	case slices.ContainsFunc(r.Cells, func(j CellResult) bool { return !j.Control && j.Status != Skipped }):
		return ""
	case slices.ContainsFunc(r.Cells, func(j CellResult) bool { return !j.Control }):
		return "nothing was judged: every cell was skipped"
	case len(r.Shards) == 1 && len(r.Lacks) == 0:
		return ""
	}
	return "nothing was judged: the suite has no cells"
}

// sentence counts the cells.
func (r *SuiteResults) sentence() string {
	var parts []string
	total := 0
	for _, s := range order {
		if n := r.Counts[s]; n > 0 {
			total += n
			word := string(s)
			if r.Compare && s == Expected {
				word = "measured" // nothing was expected of it
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	text := checker.Count(total, "cell")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if why := r.nothing(); why != "" {
		text += "; " + why
	}
	if len(r.Lacks) > 0 {
		text += "; the suite did not reach the required coverage: " + strings.Join(r.Lacks, ", ")
	}
	return text
}

// choice asks of the cells which lock to choose.
func (r *SuiteResults) choice() *answer.Ranking {
	var cells []answer.Cell
	for _, j := range r.Cells {
		if j.Control || j.Chosen { // what was chosen says nothing of how often a lock fails
			continue
		}
		c := answer.Cell{
			Lock: j.Row, Fault: j.Column, Outcome: j.Outcome, Skipped: j.Status == Skipped, Samples: j.Samples(),
			Blocked: j.Failed[checker.Liveness],
		}
		if !c.Skipped {
			c.Open = max(j.Of-len(c.Samples), 0)
		}
		cells = append(cells, c)
	}
	return answer.Of(cells)
}
