package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Headline returns the verdict in one sentence, fit for a terminal.
func Headline(r *checker.Results) string { return visible(headline(r)) }

func headline(r *checker.Results) string {
	switch r.Verdict {
	case checker.Pass:
		for _, c := range r.Checks {
			if c.Required && c.Spared {
				return "pass: all findings are inherent to leases, and --fail-on defect ignores such findings"
			}
		}
		if c := r.Checks[checker.MutualExclusion]; c.Verdict == checker.Fail {
			return "pass: two clients held the lock at once, but this has no effect on the verdict"
		}
		return "pass: no violation was found"
	case checker.Fail:
		var failed []string
		for _, name := range r.Order {
			if c := r.Checks[name]; c.Required && c.Verdict == checker.Fail && gates(c) {
				failed = append(failed, name)
			}
		}
		return "VIOLATION: " + strings.Join(failed, ", ")
	default:
		if name, c := unanswered(r, ""); name != "" {
			return fmt.Sprintf("inconclusive: the check %s has no verdict: %s", name, c.Reason)
		}
		return "inconclusive"
	}
}

// listedChecks are those that a report lists: not those that are about another kind of workload.
func listedChecks(r *checker.Results) []string {
	return slices.DeleteFunc(slices.Clone(r.Order), func(name string) bool {
		c := r.Checks[name]
		return (c.Code == checker.CodeElsewhere || c.Quiet) && !c.Required && len(c.Findings) == 0
	})
}

// mark is a check in a word. What it found is a note where that cannot fail the run.
func mark(c checker.Result) string {
	switch {
	case c.Verdict == checker.Skipped, c.Verdict == checker.Pass && len(c.Findings) == 0:
		return string(c.Verdict)
	case !c.Required, c.Verdict == checker.Fail && !gates(c):
		return "note"
	case c.Verdict == checker.Fail:
		return "FAIL"
	}
	return string(c.Verdict)
}

// oneLine is a check in one line: how many findings of which class, or the reason.
func oneLine(c checker.Result) string {
	if len(c.Findings) == 0 || c.Verdict == checker.Pass || c.Verdict == checker.Skipped {
		return c.Reason
	}
	var parts []string
	for _, class := range []checker.Class{checker.Defect, checker.Inherent, checker.Undetermined, checker.NoClass} {
		n := 0
		for _, f := range c.Findings {
			if f.Class == class {
				n++
			}
		}
		if n > 0 && class == checker.NoClass {
			parts = append(parts, fmt.Sprint(n))
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	text := strings.Join(parts, ", ") + " finding"
	if len(c.Findings) > 1 {
		text += "s"
	}
	if !gates(c) {
		text += " (no effect on the verdict)"
	}
	if c.Reason != "" {
		text += "; " + c.Reason
	}
	return text
}

func gates(c checker.Result) bool { return c.Violates() }

// also is a kind of incident in one line, beside one that is told in full.
func also(in Incident) string {
	text := "Also"
	switch in.Finding.Class {
	case checker.Inherent:
		text += " inherent to leases"
	case checker.Defect:
		text += " a defect of the lock"
	}
	return text + ": " + shortly(in, "incident") + remark(in) + "."
}

// noted is a kind of finding that fails nothing, in one line.
func noted(in Incident) string {
	return "Finding without effect on the verdict: " + in.Finding.Message + "; " + shortly(in, "finding") + "."
}

// shortly is what kind an incident is of, how often it is listed and since when.
func shortly(in Incident, what string) string {
	first := "first at "
	if in.Count == 1 {
		first = "at "
	}
	return fmt.Sprintf("rule %s (check %s), %s, %s%s", in.Finding.Rule, in.Check, checker.Count(in.Count, what), first,
		moment(in.First))
}

// remark returns why an incident alone fails nothing, if that is so.
func remark(in Incident) string {
	switch {
	case !in.Finding.Gating:
		return "; no effect on the verdict"
	case in.Finding.Doubtful:
		return "; this finding may have a cause other than the lock"
	default:
		return ""
	}
}

// causeText says why; empty where the finding says so itself.
func causeText(f *checker.Finding) string {
	if why := because(f); !strings.Contains(f.Message, why) {
		return "Cause: " + why + "."
	}
	return ""
}

// because says why, for people: the mistake, then the fault that brought it out. Without a fault, what the record does say.
func because(f *checker.Finding) string {
	switch {
	case f.Lead == "":
		return f.Cause
	case f.CauseKind == checker.CauseNone:
		return f.Lead
	}
	return f.Lead + "; " + f.Cause
}

// headlineOf is a finding in a sentence.
func headlineOf(f *checker.Finding) string { return capital(headOf(f.Class) + f.Message + ".") }

func moreText(n int) string { return "... and " + checker.Count(n, "more fault") + "." }

// figures are the statistics that every run has.
func figures(r *checker.Results) string {
	text := fmt.Sprintf("events %d; grants %d; faults %d injected, %d took effect", r.Stats["events"], r.Stats["grants"],
		r.Stats["faults_injected"], r.Stats["faults_effective"])
	if v, ok := r.Stats["acquire_p50_ns"]; ok {
		text += fmt.Sprintf("; acquire p50 %s, p99 %s", span(v), span(r.Stats["acquire_p99_ns"]))
	}
	if n := r.Stats["renewals"]; n > 0 {
		text += fmt.Sprintf("; renew p50 %s, p99 %s, %d of %d failed", span(r.Stats["renew_p50_ns"]), span(r.Stats["renew_p99_ns"]),
			r.Stats["renewals_failed"], n)
	}
	if v, ok := r.Stats["recovery_max_ns"]; ok {
		text += "; recovery max " + span(v) + " from a fault to the next grant"
	}
	if v, ok := r.Stats["ready_ns"]; ok {
		text += "; first grant after " + span(v)
	}
	return text
}

// dur shows a length in ns to people.
func dur(ns int64) time.Duration {
	d := time.Duration(ns)
	if d > 10*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}

// at shows a moment of the run in a column, moment in a sentence.
func at(ns int64) string { return fmt.Sprintf("%8.3f s", float64(ns)/1e9) }

// precisely shows a moment to the microsecond.
func precisely(ns int64) string { return fmt.Sprintf("%.6f s", float64(ns)/1e9) }

func moment(ns int64) string { return strings.TrimSpace(at(ns)) }

// grantsOf are the grants of a finding that are on record.
func grantsOf(rec *history.Record, f *checker.Finding) (out []*history.Grant) {
	for _, id := range f.Grants {
		if g := rec.ByID[id]; g != nil {
			out = append(out, g)
		}
	}
	return out
}

// clientsOf are the clients of a finding's grants, in the order of the grants.
func clientsOf(rec *history.Record, f *checker.Finding) (clients []string) {
	for _, g := range grantsOf(rec, f) {
		if !slices.Contains(clients, g.Client) {
			clients = append(clients, g.Client)
		}
	}
	if f.Rule == ruleDeadlocked {
		slices.SortFunc(clients, byName)
	}
	return clients
}

// listed names the first of several.
func listed(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	last := max(len(names)-1, 0)
	return strings.TrimPrefix(strings.Join(names[:last], ", ")+" and "+strings.Join(names[last:], ""), " and ")
}

// maxName is how much of a name a sentence can bear.
const maxName = 60

func lockOf(rec *history.Record, f *checker.Finding) string {
	if of := grantsOf(rec, f); len(of) > 0 {
		return "lock " + cut(of[0].Lock, maxName)
	}
	if len(rec.Locks) == 1 {
		return "lock " + cut(rec.Locks[0], maxName)
	}
	return "the lock"
}

// toldLate is how long after the end of its lease the first holder was told of the loss.
func toldLate(h *happening) (late int64, known bool) {
	var over *Step
	for i, s := range h.steps {
		switch {
		case s.Kind == StepLeaseOver && over == nil:
			over = &h.steps[i]
		case s.Kind == StepTold && over != nil && s.Party == over.Party:
			return s.At - over.At, true
		}
	}
	return 0, false
}

// registers are those whose losses are told.
var registers = []string{facts.RegPlain, facts.RegFenced, regLedger}
