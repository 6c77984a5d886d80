package suite

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// Deviating returns the findings that make a run differ from the expectation, in the order of [checker.RankFound]:
// quote the first one. differs is the result of [Expectation.Compare] for the same run. Differences without a
// finding, such as a missing violation, have none.
func (e Expectation) Deviating(r *checker.Results, differs []Difference) []checker.Found {
	if r == nil {
		return nil
	}
	var out []checker.Found
	for name, c := range r.Checks {
		for _, f := range c.Findings {
			one := checker.Found{Check: name, Finding: f}
			if f.Certain() && slices.ContainsFunc(differs, func(d Difference) bool { return e.blames(d, one, c) }) {
				out = append(out, one)
			}
		}
	}
	slices.SortFunc(out, checker.RankFound)
	return out
}

// blames reports whether a finding is what a difference is about.
func (e Expectation) blames(d Difference, one checker.Found, c checker.Result) bool {
	failed := c.Required && c.Verdict == checker.Fail
	switch d.What {
	case DiffOutcome:
		return failed && !e.Outcome.allows(wordOfFinding(one.Check, one.Finding))
	case DiffExit:
		return failed && d.Got == exitViolation
	case DiffVerdict:
		return d.Of == one.Check && d.Got == string(checker.Fail)
	case DiffClass:
		return d.Of == one.Check && d.Got == string(one.Finding.Class)
	}
	return false
}

// exitViolation is the exit code of a violation, as a difference has it.
var exitViolation = anyOf([]int{harness.ExitViolation})

// Deviation is one way in which a run is not as expected, without its figures, for comparison with a baseline.
type Deviation struct {
	Check     string        `json:"check,omitempty"`
	Class     checker.Class `json:"class,omitempty"`     // of findings of the check
	Threshold string        `json:"threshold,omitempty"` // the missed threshold
	Other     string        `json:"other,omitempty"`     // an expectation that no finding and no threshold is about
}

// String returns the deviation in words.
func (d Deviation) String() string {
	if d.Check != "" {
		return d.Check + " (" + string(d.Class) + ")"
	}
	return cmp.Or(d.Threshold, d.Other)
}

// Outcome returns the outcome that the findings of a deviation show.
func (d Deviation) Outcome() Outcome { return wordOfFinding(d.Check, checker.Finding{Class: d.Class}) }

// Deviations returns the deviations of a run, each once, always in the same order.
func (e Expectation) Deviations(r *checker.Results, differs []Difference) []Deviation {
	var out []Deviation
	for _, f := range e.Deviating(r, differs) {
		out = lists.With(out, Deviation{Check: f.Check, Class: f.Finding.Class})
	}
	for _, d := range differs {
		if len(e.Deviating(r, []Difference{d})) == 0 { // no finding makes it
			out = lists.With(out, Deviation{Other: d.kind()})
		}
	}
	return out
}

// kind is a difference without what changes from run to run.
func (d Difference) kind() string {
	d.Why = ""
	if d.What == DiffFigure {
		return "figure " + d.Of + ": expected " + d.Want
	}
	return d.String()
}
