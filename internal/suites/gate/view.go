package gate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
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
func (s *Suite) Write(dir string, before *Results) (*Results, error) {
	r := s.Judge()
	if before != nil {
		r.Measure(before)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	t := r.Table(s.Dir, dir)
	var err error
	for name, render := range map[string]func(io.Writer) error{
		IndexFile:    func(w io.Writer) error { return matrix.HTML(w, t) },
		MarkdownFile: func(w io.Writer) error { return matrix.Markdown(w, t, false) },
		CSVFile:      func(w io.Writer) error { return matrix.CSV(w, t) },
		JUnitFile:    func(w io.Writer) error { return matrix.JUnit(w, t) },
	} {
		var b bytes.Buffer
		if rerr := render(&b); rerr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, rerr))
			continue
		}
		err = errors.Join(err, files.WriteBytes(filepath.Join(dir, name), b.Bytes()))
	}
	if !s.merged { // the runs of shards stay what they are
		err = errors.Join(err, s.trails())
	}
	return r, errors.Join(err, files.WriteJSON(filepath.Join(dir, ResultsFile), r))
}

// shownFigures are the columns of the lists of cells.
var shownFigures = []string{
	"exposures", "grants", "violations.rate", "overlap", "lost-updates.plain", "lost-updates.fenced",
	"overwritten-updates.plain", "overwritten-updates.fenced", "brought-back-updates.plain", "brought-back-updates.fenced",
	"fence.refused", "loss-notice", "first-violation", "recovery.median", "recovery", "acquire.p50", "acquire.p99", "throughput",
}

// Table is what reports render. runs are where the directories of the runs are, page is that of the report.
func (r *Results) Table(runs, page string) *matrix.Table {
	t := &matrix.Table{
		Title: r.Name, Program: cmp.Or(r.Program, program), Doc: r.Doc, Verdict: r.Verdict,
		Class: classOf(r.ExitCode),
	}
	if len(r.Controls) > 0 {
		t.Alerts = append(t.Alerts, "Controls with an unexpected outcome: "+strings.Join(r.Controls, ", ")+
			". Controls are runs with a known outcome. If a control fails, lockstorm does not work on this machine, so no verdict of "+
			"this suite counts.")
	}
	if len(r.Lacks) > 0 {
		t.Alerts = append(t.Alerts, "Required coverage that was not reached: "+strings.Join(r.Lacks, ", "))
	}
	for _, name := range sortedKeys(r.Replaced) {
		t.Alerts = append(t.Alerts, fmt.Sprintf("%[2]s was run in place of %[1]s, with the same expected outcomes.", name,
			r.Replaced[name]))
	}
	t.Facts, t.Answer = r.facts(), locks(r.Answer)
	if r.Baseline != nil {
		t.Changes, t.Sides = r.Baseline.Lines(), r.Baseline.sides(r.Name)
	}
	for _, name := range shownFigures {
		f, _ := tally.Find(name)
		t.Figures = append(t.Figures, matrix.Figure{Name: f.Name, Doc: f.Doc, Unit: string(f.Unit)})
	}
	for _, j := range r.Cells {
		t.Cells = append(t.Cells, j.shownAs(runs, page))
	}
	for _, name := range sortedKeys(r.Versions) {
		t.Versions = append(t.Versions, [2]string{name, r.Versions[name]})
	}
	return t
}

func classOf(code int) string {
	switch code {
	case harness.ExitPass:
		return "pass"
	case harness.ExitUnknown, harness.ExitInterrupted:
		return "unknown"
	}
	return "fail"
}

func (r *Results) facts() [][2]string {
	out := [][2]string{
		{"exit code", fmt.Sprint(r.ExitCode)},
		{"started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"lockstorm", r.Version},
		{"processors", fmt.Sprint(r.CPUs)},
	}
	if r.Wall > 0 {
		out = append(out, [2]string{"took", r.Wall.Round(100 * time.Millisecond).String()},
			[2]string{"runs in parallel", fmt.Sprintf("%.1f (the runs took %v in total)", r.Parallel(), r.Work.Round(time.Second))})
	}
	if p := r.Providers(); p != "" {
		out = append(out, [2]string{"number of runs for each provider of the servers", p})
	}
	if len(r.Shards) > 0 {
		out = append(out, [2]string{"shards", strings.Join(r.Shards, ", ")})
	}
	return out
}

// Parallel is the work of all runs over the time that they took together.
func (r *Results) Parallel() float64 { return r.Work.Seconds() / max(r.Wall.Seconds(), 1e-9) }

// kinds of statuses, for colours: see matrix.Cell.
var kinds = map[Status]string{
	Worse: "bad", Broken: "open", Inconclusive: "open", NotRun: "open", Missed: "odd", Passed: "odd", Expected: "good",
	Known: "good", Skipped: "off",
}

// weak is the highest chance of a violation that few exposures leave: above it a safe cell looks as weak as it is.
const weak = 0.05

func (j CellResult) shownAs(runs, page string) matrix.Cell {
	c := matrix.Cell{
		Name: j.Name, Text: j.Text, Row: j.Row, Column: j.Column, Control: j.Control, Status: string(j.Status), Kind: kinds[j.Status],
		Word:     j.wordShown(),
		Expected: Wanted(j.Expected), Rate: j.rate(), Why: j.Why, AsIt: j.AsIt, Of: j.Of, Values: map[string]matrix.Value{},
		Command: j.Command, Again: j.Again,
	}
	c.Weak = j.Word == suite.Safe && (j.NoneIn == 0 || j.NoneIn > weak)
	if j.NoneIn > 0 {
		c.Why = append(slices.Clone(c.Why), fmt.Sprintf("0 violations in %d exposures (95 %% upper bound: %.2g %%)", j.Exposures,
			100*j.NoneIn))
	}
	for _, name := range shownFigures {
		f, _ := tally.Find(name)
		if v, ok := j.Figures[name]; ok {
			c.Values[name] = valueShown(f, v)
		}
	}
	for _, o := range j.Runs {
		run := matrix.Run{
			Label: fmt.Sprintf("seed %d", o.Seed), Status: string(o.Status), Kind: kinds[o.Status],
			Took: o.Took.Seconds(), Text: o.why(), Line: o.Command,
		}
		if o.Search != nil {
			run.Text = strings.TrimPrefix(run.Text+"; "+o.Search.String(), "; ")
		}
		report := filepath.Join(runs, o.Dir, harness.ReportFile)
		if _, err := os.Stat(report); err == nil && o.Dir != "" {
			run.Link = linkFrom(page, report)
		}
		c.Runs = append(c.Runs, run)
	}
	return c
}

// valueShown is a figure with its interval. A count is exact.
func valueShown(f tally.Figure, v tally.Value) matrix.Value {
	shown := matrix.Value{Text: f.Text(v.Value), Value: v.Value, Low: v.Low, High: v.High}
	if f.Unit != tally.Count && v.Low != v.High {
		shown.Interval = f.Text(v.Low) + " to " + f.Text(v.High)
	}
	return shown
}

// linkFrom is the way from a directory to a file, as a link.
func linkFrom(page, path string) string {
	rel, err := relative(page, path)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// wordShown is the word of the matrix.
func (j CellResult) wordShown() string {
	switch {
	case j.Status == Skipped:
		return "skipped"
	case j.Word == "" || len(j.Samples()) == 0:
		return "unknown"
	}
	return string(j.Word)
}

// rate is the figure that says most of a cell in the matrix. Of a safe one it says how often it was put to
// the test: overlaps that no check gates on are in the list of cells.
func (j CellResult) rate() string {
	if j.NoneIn > 0 {
		return fmt.Sprintf("0 in %d (95 %% bound: %.2g %%)", j.Exposures, 100*j.NoneIn)
	}
	for _, one := range [][2]string{
		{"violations.rate", " per 1000 grants"},
		{"lost-updates.percent", " of updates lost"},
		{"violating.runs", " of runs"},
	} {
		f, _ := tally.Find(one[0])
		if v, ok := j.Figures[one[0]]; ok && v.Value > 0 && j.Word != suite.Safe {
			return f.Text(v.Value) + one[1]
		}
	}
	return ""
}

// Wanted is an expectation in short.
func Wanted(e suite.Expectation) string {
	var parts []string
	if e.Outcome != "" {
		parts = append(parts, string(e.Outcome))
	}
	if len(e.Exit) > 0 {
		codes := make([]string, len(e.Exit))
		for i, c := range e.Exit {
			codes[i] = fmt.Sprint(c)
		}
		parts = append(parts, "exit "+strings.Join(codes, " or "))
	}
	for _, name := range sortedKeys(e.Verdicts) {
		parts = append(parts, name+" "+string(e.Verdicts[name]))
	}
	for _, name := range sortedKeys(e.Figures) {
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+e.Figures[name].String())
	}
	return strings.Join(parts, ", ")
}

// Lines are the differences, one a line.
func (a *Against) Lines() []string {
	var out []string
	for _, l := range a.New {
		out = append(out, "new violation: "+l)
	}
	for _, l := range a.Vanished {
		out = append(out, "violation no longer found: "+l)
	}
	for _, c := range a.Figures {
		out = append(out, c.String())
	}
	for _, l := range a.Only {
		out = append(out, "not compared: "+l)
	}
	return append(out, fmt.Sprintf("figures (measured values) compared with %s: %d; significant differences (corrected p < 0.05, "+
		"and a difference of at least 20 %%): %d", a.Before, a.Compared, len(a.Figures)))
}
