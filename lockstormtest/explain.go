package lockstormtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/reports"
	"github.com/lockstorm/lockstorm/suite"
)

// page collects the text of a failure.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, "\n  "+format, args...) }

// explain says what differs, what happened, where the run is kept and how it is made again.
func (j *judge) explain(trial *harness.Trial, out *harness.RunOutcome, differ []suite.Difference) string {
	var p page
	for _, d := range differ {
		p.line("%s", d)
	}
	p.line("run: %s", trial.Config.Line())
	p.line("%s", reports.Headline(out.Results))
	if out.Trouble != nil {
		p.line("the run did not finish: %v", out.Trouble)
	}
	p.open(out.Results)
	if hint := inherentOnly(out.Results, differ); hint != "" {
		p.line("%s", hint)
	}
	p.story(reports.Tell(out.Results, out.Record))
	p.line("the run is kept: %s (report: %s)", out.Dir, filepath.Join(out.Dir, harness.ReportFile))
	p.line("to repeat this run: %s", j.again(out.Dir))
	return p.String()
}

// inherentOnly returns what to do about a violation where the run had to pass, if any lock of the kind would have
// shown it, else "".
func inherentOnly(r *checker.Results, differ []suite.Difference) string {
	pass := fmt.Sprint(harness.ExitPass)
	hadToPass := slices.ContainsFunc(differ, func(d suite.Difference) bool { return d.What == suite.DiffExit && d.Want == pass })
	if !hadToPass || suite.WordOf(r) != suite.Inherent {
		return ""
	}
	return "all findings are inherent to leases: every lock whose grants can end without a release can have them, and only a " +
		"fence (docs/semantics.md) protects the data. " +
		"To let the test fail only if the lock itself is broken, add --fail-on defect to its flags"
}

// open says which required checks could not answer.
func (p *page) open(r *checker.Results) {
	for _, name := range r.Order {
		if c := r.Checks[name]; c.Required && c.Verdict == checker.Unknown {
			p.line("check %s gave no verdict: %s", name, c.Reason)
		}
	}
}

// story tells the worst incident step by step, and the others in a line each.
func (p *page) story(s *reports.Story) {
	for i, in := range s.Incidents {
		what := fmt.Sprintf("check %s, rule %s, class %s, cause: %s", in.Check, in.Rule, in.Class, in.Cause)
		if i > 0 {
			p.line("another finding: %s (%d found)", what, in.Count)
			continue
		}
		p.line("%s", in.Headline)
		p.line("%s", what)
		p.steps(in.Steps)
	}
	if s.Survived != nil {
		p.line("%s", s.Survived.Headline)
		p.steps(s.Survived.Steps)
	}
	for _, in := range s.Noted {
		p.line("a finding that does not fail the run: %s (check %s)", in.Headline, in.Check)
	}
}

func (p *page) steps(steps []reports.Step) {
	for _, step := range steps {
		p.line("  %9s  %s", checker.Seconds(step.At), step.Text)
	}
}
