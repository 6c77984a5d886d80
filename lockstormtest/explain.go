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
	if all := j.want.Deviating(out.Results, differ); len(all) > 0 {
		f := all[0].Finding
		p.line("check %s, rule %s, class %s, cause: %s", all[0].Check, f.Rule, f.Class, f.Cause)
	}
	if out.Trouble != nil {
		p.line("the run did not finish: %v", out.Trouble)
	}
	reports.Summary(&p, out.Results, out.Record, reports.Style{}) //nolint:errcheck // it takes all
	if hint := inherentOnly(out.Results, differ); hint != "" {
		p.line("%s", hint)
	}
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
