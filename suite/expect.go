package suite

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

// Expectation is the expected outcome of a run. All fields that are set must be met, nothing else is checked. Maps
// are by the name of a check or a figure, as in results.json.
type Expectation struct {
	// Outcome is how the run ends, in one word. An inconclusive run contradicts no word.
	Outcome Outcome `json:"outcome,omitempty" yaml:"outcome,omitempty"`
	// Exit lists the exit codes with which the run may end.
	Exit []int `json:"exit,omitempty" yaml:"exit,omitempty"`
	// Verdicts are the answers that checks give.
	Verdicts map[string]checker.Verdict `json:"verdicts,omitempty" yaml:"verdicts,omitempty"`
	// Classes has the class of every finding of a check, which must have one at least.
	Classes map[string]checker.Class `json:"classes,omitempty" yaml:"classes,omitempty"`
	// Rules lists rules that a check must find, each at least once; it may find others, too.
	Rules map[string][]string `json:"rules,omitempty" yaml:"rules,omitempty"`
	// Figures has bounds for stats. A figure that was not measured is out of bounds.
	Figures map[string]Bound `json:"figures,omitempty" yaml:"figures,omitempty"`
}

// Bound is the range of a figure, ends included, in the figure's own unit.
type Bound struct {
	AtLeast *int64 `json:"at_least,omitempty" yaml:"at_least,omitempty"`
	AtMost  *int64 `json:"at_most,omitempty" yaml:"at_most,omitempty"`
}

// AtLeast returns the bound from v on.
func AtLeast(v int64) Bound { return Bound{AtLeast: &v} }

// AtMost returns the bound up to v.
func AtMost(v int64) Bound { return Bound{AtMost: &v} }

// has reports whether a figure lies within the bound.
func (b Bound) has(v int64) bool {
	return (b.AtLeast == nil || v >= *b.AtLeast) && (b.AtMost == nil || v <= *b.AtMost)
}

// String returns the bound in words.
func (b Bound) String() string {
	switch {
	case b.AtLeast == nil && b.AtMost == nil:
		return "any"
	case b.AtMost == nil:
		return fmt.Sprintf("at least %d", *b.AtLeast)
	case b.AtLeast == nil:
		return fmt.Sprintf("at most %d", *b.AtMost)
	default:
		return fmt.Sprintf("%d to %d", *b.AtLeast, *b.AtMost)
	}
}

// asks reports whether anything is expected of results, beyond the exit code.
func (e Expectation) asks() bool {
	return e.Outcome != "" || len(e.Verdicts)+len(e.Classes)+len(e.Rules)+len(e.Figures) > 0
}

var (
	goodFigure = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	goodRule   = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
)

// Validate returns what no run could show: unknown checks, words, verdicts, classes and exit codes, bounds without a
// number between their ends, and an expectation of nothing, which every run would meet.
func (e Expectation) Validate(checks *checker.Catalogue) error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("expect: "+format, args...)) }
	if !e.asks() && len(e.Exit) == 0 {
		complain("the expectation is empty, so every run would meet it: set an outcome, exit code, verdict, class, rule or figure")
	}
	if e.Outcome != "" && e.Outcome.Doc() == "" {
		complain("unknown outcome %q: choose one of %v", e.Outcome, Words())
	}
	for _, code := range e.Exit {
		if !slices.Contains(exitCodes(), code) {
			complain("no run ends with the exit code %d: choose one of %v", code, exitCodes())
		}
	}
	for _, name := range e.checks() {
		if _, err := checks.Get(name); err != nil {
			complain("%w", err)
		}
	}
	errs = append(errs, e.validAnswers()...)
	return errors.Join(append(errs, e.validFigures()...)...)
}

// exitCodes are those that a run can end with.
func exitCodes() []int {
	return []int{
		harness.ExitPass, harness.ExitViolation, harness.ExitUnknown, harness.ExitUsage, harness.ExitEnvironment,
		harness.ExitPanic, harness.ExitInterrupted,
	}
}

// checks are the names of the checks that are spoken of, sorted.
func (e Expectation) checks() []string {
	names := slices.Collect(maps.Keys(e.Verdicts))
	names = slices.AppendSeq(names, maps.Keys(e.Classes))
	names = slices.AppendSeq(names, maps.Keys(e.Rules))
	slices.Sort(names)
	return slices.Compact(names)
}

func (e Expectation) validAnswers() (errs []error) {
	verdicts := []checker.Verdict{checker.Pass, checker.Fail, checker.Unknown, checker.Skipped}
	classes := []checker.Class{checker.Inherent, checker.Defect, checker.Undetermined, checker.NoClass}
	for name, v := range sorted(e.Verdicts) {
		if !slices.Contains(verdicts, v) {
			errs = append(errs, fmt.Errorf("expect: unknown verdict %q for check %s: choose one of %v", v, name, verdicts))
		}
	}
	for name, c := range sorted(e.Classes) {
		if !slices.Contains(classes, c) {
			errs = append(errs, fmt.Errorf("expect: unknown class %q for check %s: choose one of %v", c, name, classes))
		}
	}
	for name, rules := range sorted(e.Rules) {
		if len(rules) == 0 {
			errs = append(errs, fmt.Errorf("expect: the list of rules for check %s is empty: name a rule, or leave out the list", name))
		}
		for _, r := range rules {
			if !goodRule.MatchString(r) {
				errs = append(errs, fmt.Errorf("expect: rule %q for check %s is not a valid name", r, name))
			}
		}
	}
	return errs
}

func (e Expectation) validFigures() (errs []error) {
	for name, b := range sorted(e.Figures) {
		switch {
		case !goodFigure.MatchString(name):
			errs = append(errs, fmt.Errorf("expect: figure %q does not have a valid name: use lower case words joined by _", name))
		case b.AtLeast == nil && b.AtMost == nil:
			errs = append(errs, fmt.Errorf("expect: figure %s has no limit: set at_least or at_most", name))
		case b.AtLeast != nil && b.AtMost != nil && *b.AtLeast > *b.AtMost:
			errs = append(errs, fmt.Errorf("expect: figure %s: the range %v is empty (its minimum is above its maximum)", name, b))
		}
	}
	return errs
}
