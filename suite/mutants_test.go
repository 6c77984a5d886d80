package suite

import (
	"maps"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// exactly expects all that results say.
func exactly(exit int, r *checker.Results) Expectation {
	e := Expectation{
		Outcome: WordOf(r), Exit: codes{exit},
		Verdicts: verdicts{}, Classes: classes{}, Rules: map[string][]string{}, Figures: figures{},
	}
	for name, c := range r.Checks {
		e.Verdicts[name] = c.Verdict
		found := map[string]bool{}
		uniform := true
		for _, f := range c.Findings {
			found[f.Rule] = true
			uniform = uniform && f.Class == c.Findings[0].Class
		}
		if len(found) > 0 {
			e.Rules[name] = slices.Sorted(maps.Keys(found))
		}
		if len(found) > 0 && uniform {
			e.Classes[name] = c.Findings[0].Class
		}
	}
	for name, v := range r.Stats {
		e.Figures[name] = between(v, v)
	}
	return e
}

// mutant is an expectation with one thing changed, and the kind of difference by which
// that must be seen.
type mutant struct {
	what, of string
	e        Expectation
}

// changed is a map with one value changed.
func changed[V any](m map[string]V, name string, v V) map[string]V {
	m = maps.Clone(m)
	m[name] = v
	return m
}

// mutants are all expectations that differ from e in one thing.
func mutants(e Expectation) (out []mutant) {
	for _, code := range exitCodes() {
		if !slices.Contains(e.Exit, code) {
			m := e
			m.Exit = codes{code}
			out = append(out, mutant{DiffExit, "", m})
		}
	}
	for _, w := range Words() {
		if !w.allows(e.Outcome) {
			m := e
			m.Outcome = w
			out = append(out, mutant{DiffOutcome, "", m})
		}
	}
	return append(out, mutantsOfMaps(e)...)
}

func mutantsOfMaps(e Expectation) (out []mutant) {
	for name, v := range e.Verdicts {
		for _, other := range []checker.Verdict{checker.Pass, checker.Fail, checker.Unknown, checker.Skipped} {
			if other != v {
				m := e
				m.Verdicts = changed(e.Verdicts, name, other)
				out = append(out, mutant{DiffVerdict, name, m})
			}
		}
	}
	for name, c := range e.Classes {
		for _, other := range []checker.Class{checker.Inherent, checker.Defect, checker.Undetermined, checker.NoClass} {
			if other != c {
				m := e
				m.Classes = changed(e.Classes, name, other)
				out = append(out, mutant{DiffClass, name, m})
			}
		}
	}
	for name := range e.Verdicts { // a rule that was not found
		m := e
		m.Rules = changed(e.Rules, name, append(slices.Clone(e.Rules[name]), "no-such-rule"))
		out = append(out, mutant{DiffRule, name, m})
	}
	for name, b := range e.Figures {
		for _, wrong := range []Bound{AtLeast(*b.AtLeast + 1), AtMost(*b.AtMost - 1)} {
			m := e
			m.Figures = changed(e.Figures, name, wrong)
			out = append(out, mutant{DiffFigure, name, m})
		}
	}
	m := e
	m.Figures = changed(e.Figures, "no_such_figure", AtLeast(-1))
	return append(out, mutant{DiffFigure, "no_such_figure", m})
}

// caught demands that what a run was is as expected, and that every expectation that is
// wrong in one thing is contradicted, by that thing alone.
func caught(t *testing.T, exit int, r *checker.Results) {
	t.Helper()
	e := exactly(exit, r)
	if got := e.Compare(exit, r); len(got) > 0 {
		t.Fatalf("a run contradicts itself: %s", Sentences(got))
	}
	all := mutants(e)
	if len(all) < 15 {
		t.Errorf("only %d mutants", len(all))
	}
	for _, m := range all {
		if got := m.e.Compare(exit, r); len(got) != 1 || got[0].What != m.what || got[0].Of != m.of {
			t.Errorf("a wrong %s %s: differences %v", m.what, m.of, got)
		}
	}
}

func TestMutantsOfExpectationsAreCaught(t *testing.T) {
	caught(t, 1, violating())
	caught(t, 0, &checker.Results{Verdict: checker.Pass, Checks: map[string]checker.Result{
		checker.Ownership: {Verdict: checker.Pass, Required: true}, checker.Liveness: {Verdict: checker.Pass, Required: true},
	}, Stats: checker.Figures{"grants": 7}})
}
