package checker

import (
	"fmt"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// requires reports whether a run requires a check: those that it names or, where it names
// none, those that say so themselves. One with a + is required beside those. The soundness of the record is always required.
func requires(run history.Run, c Check) bool {
	switch {
	case c.Name == Assumptions:
		return true
	case names(run, c):
		return true
	case slices.ContainsFunc(run.Required, func(name string) bool { return name == history.Requirement(name) }):
		return false // the run names what it requires
	default:
		return c.Gates != nil && c.Gates(run)
	}
}

// names reports whether a run requires a check by name.
func names(run history.Run, c Check) bool {
	return slices.ContainsFunc(run.Required, func(name string) bool { return history.Requirement(name) == c.Name })
}

// Judge runs every check on the history and folds their answers.
func Judge(in *Input, checks *Catalogue) *Results {
	run := in.Run
	r := &Results{
		Schema: ResultsSchema, Seed: run.Seed, Backend: run.Backend, Topology: run.Topology, Provider: run.Provider,
		Nemesis: run.Nemesis, Workload: run.Workload, Fencing: run.Fencing, Discipline: run.Discipline, TTL: run.TTL,
		Clients: run.Clients, FailOn: run.FailOn, Started: run.Started, Versions: run.Versions, Command: run.Command,
		Checks: map[string]Result{}, Stats: commonFigures(in),
	}
	if n := len(in.Events); n > 0 {
		r.Duration = in.Events[n-1].Time
	}
	r.Notes = notes(in.Raw)
	all := checks.All()
	answers := runAll(in, all)
	for i, c := range all {
		r.Order = append(r.Order, c.Name)
		answers[i].Required, answers[i].Named = requires(run, c), names(run, c)
		answers[i].spare(run)
		if answers[i].Findings == nil {
			answers[i].Findings = []Finding{}
		}
		for name, v := range answers[i].Figures {
			r.Stats.Raise(name, v) // where two checks have measured the same
		}
		if len(answers[i].Figures) == 0 {
			answers[i].Figures = nil // as it is read back
		}
		r.Checks[c.Name] = answers[i]
	}
	r.cost()
	r.demand(run, checks)
	r.distrust(in)
	r.fold()
	return r
}

// runAll runs the checks side by side.
func runAll(in *Input, checks []Check) []Result {
	out := make([]Result, len(checks))
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() { out[i] = guarded(c, in) })
	}
	wg.Wait()
	return out
}

// guarded turns a panic of a check into unknown: it proves nothing about the lock.
func guarded(c Check, in *Input) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r = Undecided(CodePanicked, fmt.Sprintf("the check itself crashed (a bug of lockstorm): %v", p))
		}
	}()
	if c.Applies != nil {
		if code, why := c.Applies(in); code != "" {
			return Result{Verdict: Skipped, Code: code, Reason: why}
		}
	}
	r = c.Run(in)
	for i := range r.Findings {
		r.Findings[i].Turns = nil // no result has them
	}
	return r
}

// demand makes a check unknown that was asked for by name and does not apply: what was
// demanded was not judged. A check that does not exist makes the record unsound.
func (r *Results) demand(run history.Run, checks *Catalogue) {
	if missing := demanded(run, checks); len(missing) > 0 {
		a := r.Checks[Assumptions]
		a.Verdict, a.Code, a.Reason = Unknown, CodeUnsound, missing[0].Message
		a.Findings = append(a.Findings, missing...)
		r.Checks[Assumptions] = a
	}
	for _, name := range run.Required {
		name = history.Requirement(name)
		if c := r.Checks[name]; c.Verdict == Skipped {
			c.Verdict, c.Reason = Unknown, "the run requires this check, but the check does not apply: "+c.Reason
			r.Checks[name] = c
		}
	}
}

// distrust makes every other check unknown when the record is not sound, and takes back
// every pass when the record has no end.
func (r *Results) distrust(in *Input) {
	sound := r.Checks[Assumptions]
	for name, c := range r.Checks {
		if name == Assumptions || c.Verdict == Skipped {
			continue
		}
		switch {
		case sound.Verdict == Unknown && sound.Code != CodeNoEnd:
			c.Verdict, c.Code, c.Reason = Unknown, CodeUnsound, "the record is not valid: see the check \"assumptions\""
		case in.End == nil && c.Verdict == Pass:
			c.Verdict, c.Code, c.Reason = Unknown, CodeNoEnd, "the run was interrupted, so the history has no end event; the recorded "+
				"part shows no violation"
		}
		r.Checks[name] = c
	}
}

// fold makes the run's verdict of the required checks: a violation is never masked by
// an unknown. A required check that fails is one, unless all that it found is reported only,
// which counts where the run names the check.
func (r *Results) fold() {
	r.Verdict = Pass
	for _, c := range r.Checks {
		if !c.Required {
			continue
		}
		switch {
		case c.Violates():
			r.Verdict = Fail
		case c.Verdict == Unknown && r.Verdict == Pass:
			r.Verdict = Unknown
		}
	}
	r.ExitCode = map[Verdict]int{Pass: 0, Fail: 1, Unknown: 2}[r.Verdict]
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if c.Required && c.Violates() && !f.Doubtful {
				r.Stats.Lower("first_violation_ns", f.From)
			}
		}
	}
}

// spare makes findings that are inherent to leases reported only, if the run fails on defects alone.
func (r *Result) spare(run history.Run) {
	if run.FailOn != history.FailOnDefect || r.Verdict != Fail {
		return
	}
	r.Spared = len(r.Findings) > 0
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Class == Inherent {
			f.Gating = false
		} else {
			r.Spared = false
		}
	}
}

// Violates reports whether a failed check is a violation where it is required: the run names it, or one of its
// findings gates, or it lists no findings.
func (r Result) Violates() bool {
	if r.Spared {
		return false
	}
	gates := r.Named || len(r.Findings) == 0 || slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Gating })
	return r.Verdict == Fail && gates
}

// demanded returns what is wrong with the checks that a run requires by name.
func demanded(run history.Run, checks *Catalogue) (missing []Finding) {
	for _, name := range run.Required {
		if _, err := checks.Get(history.Requirement(name)); err != nil {
			missing = append(missing, OfRecord("required", fmt.Sprintf("the run requires the unknown check %q", name), nil))
		}
	}
	return missing
}
