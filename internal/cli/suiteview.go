package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/reports"
)

// suiteView shows how a suite goes: on a terminal a live line with the present runs and the time left, and a line for
// each unexpected run; elsewhere one line a run.
type suiteView struct {
	*view

	state   sync.Mutex
	running []string
	last    gate.RunProgress
	odd     int
	ends    time.Time // as far as one can tell
}

func newSuiteView(st State) *suiteView { return &suiteView{view: newView(st)} }

func (v *suiteView) event(e gate.RunProgress) {
	name := fmt.Sprintf("%s seed %d", e.Cell.Case.Name, e.Seed)
	v.state.Lock()
	if e.Outcome == nil {
		v.running = append(v.running, name)
	} else {
		v.running = slices.DeleteFunc(v.running, func(n string) bool { return n == name })
	}
	v.last, v.ends = e, time.Now().Add(e.Left)
	good := e.Outcome == nil || e.Outcome.Status == gate.Expected
	if !good && !e.Again {
		v.odd++
	}
	v.state.Unlock()
	if e.Outcome != nil && (!v.terminal || !good) {
		v.line("%4d of %d  %s  %s", e.Done, e.All, e, e.Outcome.Took.Round(100*time.Millisecond))
	}
	v.show()
}

// begin keeps the live line up to date until the function is called that it returns.
func (v *suiteView) begin() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var showing sync.WaitGroup
	showing.Go(func() {
		for nemesis.Wait(ctx, time.Second) {
			v.show()
		}
	})
	return func() { cancel(); showing.Wait(); v.close() }
}

func (v *suiteView) show() {
	if !v.terminal {
		return
	}
	v.state.Lock()
	text := fmt.Sprintf("%d of %d runs finished, %d with an unexpected outcome, about %v remaining; running now: %s", v.last.Done,
		v.last.All, v.odd,
		max(time.Until(v.ends), 0).Round(time.Second), strings.Join(v.running, ", "))
	v.state.Unlock()
	v.status(text)
}

// cellCount is how much a suite is.
type cellCount struct{ cells, controls, skipped, runs int }

func countCells(cells []plan.Cell) (n cellCount) {
	for _, c := range cells {
		if c.Control {
			n.controls++
		}
		if c.Skip != "" {
			n.skipped++
		} else {
			n.runs += len(c.Seeds)
		}
	}
	n.cells = len(cells) - n.controls
	return n
}

// String counts cells and controls, as the verdict of a suite does.
func (n cellCount) String() string {
	text := Plural(n.cells, "cell") + " and " + Plural(n.controls, "control")
	if n.skipped > 0 {
		text += fmt.Sprintf(" (%d skipped)", n.skipped)
	}
	return text
}

// Plural is a number of things.
func Plural(n int, one string) string { return checker.Count(n, one) }

// listCells prints the cells of a suite.
func (a *App) listCells(cells []plan.Cell, r *gate.Runner) error {
	w := tabwriter.NewWriter(a.st.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range cells {
		what := gate.Wanted(c.Case.Expect)
		if c.Control {
			what = "control: " + what
		}
		if c.Skip != "" {
			what = "skipped: " + c.Skip
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Case.Name, Plural(len(c.Seeds), "seed"), what, matrix.Verbed(gate.CommandOf(c.Case)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	n := countCells(cells)
	fmt.Fprintf(a.st.Stdout, "\n%s, %s; estimated time on this machine: about %v\n", n, Plural(n.runs, "run"),
		r.Estimate(cells).Round(time.Second))
	return nil
}

// summarizeSuite prints the unexpected outcomes, and how long the suite took.
func (a *App) summarizeSuite(r *gate.SuiteResults, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(r)
	}
	w := a.st.Stdout
	for _, j := range r.Cells {
		if j.Status.Code() == 0 && (!j.Control || j.Status == gate.Expected) {
			continue
		}
		fmt.Fprintf(w, "%s: %s\n", a.st.Style.Status(j.Status.Code(), string(j.Status)), j.Name)
		for _, why := range j.Why {
			fmt.Fprintf(w, "%s\n", a.st.Style.Wrap("    "+reports.Visible(why, ""), 6))
		}
		fmt.Fprintf(w, "    %s %s\n", a.st.Name, matrix.Verbed(j.Line()))
	}
	if r.Baseline != nil {
		fmt.Fprintln(w, strings.Join(r.Baseline.Lines(), "\n"))
	}
	if r.Compare && r.Answer != nil {
		for _, l := range r.Answer.Locks {
			fmt.Fprintf(w, "group %d  %s\n", l.Group, l.Sentence)
		}
	}
	if again := r.Again(); len(again) > 0 {
		fmt.Fprintf(w, "retried runs: %s\n", strings.Join(again, ", "))
	}
	if p := r.Providers(); p != "" {
		fmt.Fprintf(w, "runs by provider of servers: %s\n", p)
	}
	if r.Wall > 0 {
		fmt.Fprintf(w, "finished in %v: %v of runs, %.1f at a time on %d processors\n",
			r.Wall.Round(100*time.Millisecond), r.Work.Round(100*time.Millisecond), r.Parallel(), r.CPUs)
	}
	return nil
}

// tellCI speaks to the CI service where it says that it is one: annotations, and a summary of the step.
func (a *App) tellCI(r *gate.SuiteResults, out string, asJSON bool) error {
	env, w := a.st.Env, a.st.Stdout
	if asJSON { // which is one document; commands of a workflow are read from both
		w = a.st.Stderr
	}
	if env("GITHUB_ACTIONS") == "true" {
		for _, j := range r.Cells {
			if j.Status.Code() == 0 {
				continue
			}
			level := "error"
			if j.Status.Code() == 2 {
				level = "warning"
			}
			fmt.Fprintf(w, "::%s title=%s::%s\n", level, annotation("lockstorm: "+j.Name, true),
				annotation(string(j.Status)+": "+strings.Join(j.Why, "\n")+"\n"+a.st.Name+" "+matrix.Verbed(j.Line()), false))
		}
	}
	path := env("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("cannot write the summary of the CI step: %w", err)
	}
	return errors.Join(matrix.Of(r, out, out).Markdown(f), f.Close())
}

// annotation escapes a text as the commands of a workflow want it.
func annotation(s string, property bool) string {
	s = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
	if property {
		s = strings.NewReplacer(":", "%3A", ",", "%2C").Replace(s)
	}
	return s
}
