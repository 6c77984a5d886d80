// Package matrix renders what a suite came to: backends down, faults across, and every cell with its
// figures and its runs, as a page, Markdown, CSV and JUnit.
package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// Files that are rendered from the results.
const (
	IndexFile    = "index.html"
	MarkdownFile = "matrix.md"
	CSVFile      = "matrix.csv"
	JUnitFile    = "junit.xml"
)

// Write judges a suite, and writes results.json and every report of it into a directory. The reports of
// the runs are linked to from there. before, if any, is a baseline.
func Write(s *gate.Suite, dir string, before *gate.SuiteResults) (*gate.SuiteResults, error) {
	r := s.Judge(before)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	t, err := Of(r, s.Dir, dir), s.Keep(dir, r)
	for name, render := range map[string]func(io.Writer) error{
		IndexFile: t.HTML, MarkdownFile: t.Markdown, CSVFile: t.CSV, JUnitFile: t.JUnit,
	} {
		err = errors.Join(err, files.Write(filepath.Join(dir, name), render))
	}
	return r, err
}

// Table is results as they are shown.
type Table struct {
	*gate.SuiteResults
	Cells []cell
}

// Of is what results are shown as. runs are where the directories of the runs are, page is that of the report.
func Of(r *gate.SuiteResults, runs, page string) *Table {
	t := &Table{SuiteResults: r}
	for i := range r.Cells {
		c := cell{CellResult: &r.Cells[i]}
		for k := range c.CellResult.Runs {
			c.Runs = append(c.Runs, runOf(&c.CellResult.Runs[k], runs, page))
		}
		t.Cells = append(t.Cells, c)
	}
	return t
}

// Figures are the columns of the list of cells.
func (t *Table) Figures() (out []tally.Figure) {
	for _, name := range []string{
		"exposures", "grants", "violations.rate", "overlap", "lost-updates.plain", "lost-updates.fenced",
		"overwritten-updates.plain", "overwritten-updates.fenced", "brought-back-updates.plain", "brought-back-updates.fenced",
		"fence.refused", "loss-notice", "first-violation", "recovery.median", "recovery", "acquire.p50", "acquire.p99", "throughput",
	} {
		f, _ := tally.Find(name)
		out = append(out, f)
	}
	return out
}

// Alerts are what makes the whole doubtful: controls, coverage.
func (t *Table) Alerts() (out []string) {
	if len(t.Controls) > 0 {
		out = append(out, "Controls with an unexpected outcome: "+strings.Join(t.Controls, ", ")+
			". Controls are runs with a known outcome. If a control fails, lockstorm does not work on this machine, so no verdict of "+
			"this suite counts.")
	}
	if len(t.Lacks) > 0 {
		out = append(out, "Required coverage that was not reached: "+strings.Join(t.Lacks, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Replaced)) {
		out = append(out, fmt.Sprintf("%[2]s was run in place of %[1]s, with the same expected outcomes.", name, t.Replaced[name]))
	}
	return out
}

// Class is pass, fail or unknown.
func (t *Table) Class() string {
	return cmp.Or(map[int]string{
		harness.ExitPass: "pass", harness.ExitUnknown: "unknown", harness.ExitInterrupted: "unknown",
	}[t.ExitCode], "fail")
}

// Facts are what is known of the suite as a whole.
func (t *Table) Facts() [][2]string {
	out := [][2]string{
		{"exit code", fmt.Sprint(t.ExitCode)},
		{"started", t.Started.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"lockstorm", t.Version},
		{"processors", fmt.Sprint(t.CPUs)},
	}
	if t.Wall > 0 {
		out = append(out, [2]string{"took", t.Wall.Round(100 * time.Millisecond).String()},
			[2]string{"runs in parallel", fmt.Sprintf("%.1f (the runs took %v in total)", t.Parallel(), t.Work.Round(time.Second))})
	}
	if p := t.Providers(); p != "" {
		out = append(out, [2]string{"runs by provider of servers", p})
	}
	if len(t.Shards) > 0 {
		out = append(out, [2]string{"shards", strings.Join(t.Shards, ", ")})
	}
	return out
}

// kinds of statuses, for their colours.
var kinds = map[gate.Status]string{
	gate.Violation: "bad", gate.Broken: "open", gate.Inconclusive: "open", gate.NotRun: "open", gate.Missed: "odd",
	gate.Passed: "odd", gate.Expected: "good", gate.Known: "good", gate.Skipped: "off",
}

// cell is a place of the matrix, or one of several in it.
type cell struct {
	*gate.CellResult
	Runs []run
}

// Kind is that of its status.
func (c cell) Kind() string { return kinds[c.Status] }

// Expected is what it should have come to.
func (c cell) Expected() string { return gate.Wanted(c.CellResult.Expected) }

// Why is why it is not as expected, and what a safe cell shows.
func (c cell) Why() []string {
	if c.NoneIn == 0 {
		return c.CellResult.Why
	}
	return append(slices.Clone(c.CellResult.Why), fmt.Sprintf("0 violations in %d exposures (95 %% upper bound: %.2g %%)",
		c.Exposures, 100*c.NoneIn))
}

// Weak reports whether a cell is safe by few exposures: a chance of a violation of a twentieth and more is left.
func (c cell) Weak() bool {
	const weak = 0.05
	return c.Outcome == suite.Safe && (c.NoneIn == 0 || c.NoneIn > weak)
}

// Rate is the figure that says most of a cell in the matrix. Of a safe one it says how often it was put to
// the test: overlaps that no check gates on are in the list of cells.
func (c cell) Rate() string {
	if c.NoneIn > 0 {
		return fmt.Sprintf("0 in %d (95 %% bound: %.2g %%)", c.Exposures, 100*c.NoneIn)
	}
	for _, one := range [][2]string{
		{"violations.rate", " per 1000 grants"},
		{"lost-updates.percent", " of updates lost"},
		{"violating.runs", " of runs"},
	} {
		f, _ := tally.Find(one[0])
		if v, ok := c.Figures[one[0]]; ok && v.Value > 0 && c.Outcome != suite.Safe {
			return f.Text(v.Value) + one[1]
		}
	}
	return ""
}

// Figure is one of its figures; nil: it was not measured.
func (c cell) Figure(f tally.Figure) *shown {
	v, ok := c.Figures[f.Name]
	if !ok {
		return nil
	}
	s := shownAs(f, v)
	return &s
}

// shown is a figure in words, and as a number to sort by.
type shown struct {
	Text, Interval string // empty: there is none
	Value          float64
}

// String is the figure with its interval.
func (s shown) String() string {
	if s.Interval != "" {
		return s.Text + " (" + s.Interval + ")"
	}
	return s.Text
}

// shownAs is a figure with its interval. A count is exact.
func shownAs(f tally.Figure, v tally.Value) shown {
	s := shown{Text: f.Text(v.Value), Value: v.Value}
	if f.Unit != tally.Count && v.Low != v.High {
		s.Interval = f.Text(v.Low) + " to " + f.Text(v.High)
	}
	return s
}

// Verbed is a command line without its program: the flags of a run, or a replay of a run directory.
func Verbed(line string) string {
	if strings.HasPrefix(line, "replay ") || strings.HasPrefix(line, "explore ") {
		return line
	}
	return "run " + line
}

// Door is where a cell leads: to the report of its run, where it has one; else to its row in the list.
func (c cell) Door() string {
	if doors := c.linked(); len(doors) == 1 {
		return doors[0].Link
	}
	return (&url.URL{Fragment: c.Name}).String()
}

// maxDoors is how many runs a cell of the matrix leads to itself.
const maxDoors = 5

// Doors are the reports of several runs of a cell, those that are not as expected first.
func (c cell) Doors() []run {
	doors := c.linked()
	if len(doors) < 2 {
		return nil
	}
	slices.SortStableFunc(doors, func(a, b run) int { return lists.First(a.Kind() != "good", b.Kind() != "good") })
	return doors[:min(len(doors), maxDoors)]
}

// linked are the runs that have a report.
func (c cell) linked() []run {
	return slices.DeleteFunc(slices.Clone(c.Runs), func(r run) bool { return r.Link == "" })
}

// run is the evidence of a cell.
type run struct {
	*gate.RunResult
	Link string // to its report, from the page; empty: there is none
}

func runOf(o *gate.RunResult, runs, page string) run {
	report := filepath.Join(runs, o.Dir, harness.ReportFile)
	if _, err := os.Stat(report); err != nil || o.Dir == "" {
		return run{o, ""}
	}
	rel, err := files.Relative(page, report)
	if err != nil {
		return run{o, ""}
	}
	return run{o, filepath.ToSlash(rel)}
}

// Label is what it is called beside the others of its cell.
func (r run) Label() string { return fmt.Sprintf("seed %d", r.Seed) }

// Kind is that of its status.
func (r run) Kind() string { return kinds[r.Status] }

// Text is why it is not as expected, and what its search found.
func (r run) Text() string {
	if r.Search == nil {
		return r.Why()
	}
	return strings.TrimPrefix(r.Why()+"; "+r.Search.String(), "; ")
}

// rows and columns are in the order in which cells come; controls are not among them.
func (t *Table) axes() (rows, columns []string) {
	for _, c := range t.Cells {
		if c.Control {
			continue
		}
		rows = lists.With(rows, c.Row)
		columns = lists.With(columns, c.Column)
	}
	return rows, columns
}

// At are the cells of a place.
func (t *Table) At(row, column string) (out []cell) {
	return lists.Filter(t.Cells, func(c cell) bool { return !c.Control && c.Row == row && c.Column == column })
}

// Surprises are the cells that are not as expected, the worst first.
func (t *Table) Surprises() []cell {
	order := []string{"bad", "open", "odd"}
	out := lists.Filter(t.Cells, func(c cell) bool { return slices.Contains(order, c.Kind()) })
	slices.SortStableFunc(out, func(a, b cell) int {
		return cmp.Compare(slices.Index(order, a.Kind()), slices.Index(order, b.Kind()))
	})
	return out
}
