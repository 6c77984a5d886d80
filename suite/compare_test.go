package suite

import (
	"reflect"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// violating are results with something of every kind to compare.
func violating() *checker.Results {
	return &checker.Results{
		Verdict: checker.Fail, ExitCode: 1,
		Checks: map[string]checker.Result{
			checker.MutualExclusion: required(
				checker.Finding{Rule: "overlap", Class: checker.Inherent, Gating: true, Message: "c1 and c2"},
				checker.Finding{Rule: "late-notice", Class: checker.Inherent, Gating: true, Message: "c1 was told late"},
			),
			checker.Ownership:     {Verdict: checker.Pass, Required: true},
			checker.FencingTokens: {Verdict: checker.Skipped, Reason: "this lock issues no fencing tokens"},
		},
		Stats: checker.Figures{"violations": 2},
	}
}

func between(from, to int64) Bound { return Bound{AtLeast: &from, AtMost: &to} }

// Each kind of difference, and beside it what does not differ.
func TestCompare(t *testing.T) {
	mx := checker.MutualExclusion
	for name, c := range map[string]struct {
		e    Expectation
		exit int
		want []Difference
	}{
		"exit code as it must":    {e: Expectation{Exit: codes{1}}, exit: 1},
		"one of two exit codes":   {e: Expectation{Exit: codes{0, 1}}, exit: 1},
		"exit code":               {Expectation{Exit: codes{0, 2}}, 1, []Difference{{What: DiffExit, Got: "1", Want: "0 or 2"}}},
		"outcome as it must":      {e: Expectation{Outcome: Inherent}, exit: 1},
		"outcome in a wider word": {e: Expectation{Outcome: Mostly}, exit: 1},
		"outcome": {
			Expectation{Outcome: Safe},
			1,
			[]Difference{{What: DiffOutcome, Got: "inherent", Want: "safe", Why: "mutual-exclusion failed"}},
		},
		"outcome, interrupted": {Expectation{Outcome: Any}, 130, []Difference{{What: DiffExit, Got: "130", Want: "0 or 1 or 2"}}},
		"verdicts as they must": {e: Expectation{Verdicts: verdicts{
			mx: checker.Fail, checker.Ownership: checker.Pass,
			checker.FencingTokens: checker.Skipped,
		}}, exit: 1},
		"verdict": {
			Expectation{Verdicts: verdicts{checker.FencingTokens: checker.Pass}},
			1,
			[]Difference{{
				What: DiffVerdict, Of: checker.FencingTokens, Got: "skipped", Want: "pass",
				Why: "this lock issues no fencing tokens",
			}},
		},
		"verdict, not judged": {
			Expectation{Verdicts: verdicts{checker.Liveness: checker.Pass}},
			1,
			[]Difference{{What: DiffVerdict, Of: checker.Liveness, Got: "none", Want: "pass"}},
		},
		"class as it must": {e: Expectation{Classes: classes{mx: checker.Inherent}}, exit: 1},
		"class, told once": {
			Expectation{Classes: classes{mx: checker.Defect}},
			1,
			[]Difference{{What: DiffClass, Of: mx, Got: "inherent", Want: "defect", Why: "c1 and c2"}},
		},
		"class, no findings": {
			Expectation{Classes: classes{checker.Ownership: checker.Defect}},
			1,
			[]Difference{{What: DiffClass, Of: checker.Ownership, Got: "none", Want: "defect", Why: "the check has no findings"}},
		},
		"rules as they must": {e: Expectation{Rules: map[string][]string{mx: {"late-notice", "overlap"}}}, exit: 1},
		"rule": {
			Expectation{Rules: map[string][]string{mx: {"overlap", "double-grant"}}},
			1,
			[]Difference{{What: DiffRule, Of: mx, Got: "late-notice, overlap", Want: "double-grant"}},
		},
		"rule, no findings": {
			Expectation{Rules: map[string][]string{checker.Ownership: {"foreign-release"}}},
			1,
			[]Difference{{What: DiffRule, Of: checker.Ownership, Got: "none", Want: "foreign-release"}},
		},
		"figures as they must": {e: Expectation{Figures: figures{"violations": between(2, 2)}}, exit: 1},
		"figure, too small": {
			Expectation{Figures: figures{"violations": AtLeast(3)}},
			1,
			[]Difference{{What: DiffFigure, Of: "violations", Got: "2", Want: "at least 3"}},
		},
		"figure, too large": {
			Expectation{Figures: figures{"violations": AtMost(1)}},
			1,
			[]Difference{{What: DiffFigure, Of: "violations", Got: "2", Want: "at most 1"}},
		},
		"figure, not measured": {
			Expectation{Figures: figures{"orphan_max_ns": AtMost(0)}},
			1,
			[]Difference{{What: DiffFigure, Of: "orphan_max_ns", Got: "none", Want: "at most 0", Why: "the figure was not measured"}},
		},
	} {
		if got := c.e.Compare(c.exit, violating()); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// An inconclusive run contradicts no word, and every other expectation that it does not
// meet.
func TestAnInconclusiveRun(t *testing.T) {
	r := violating()
	r.Verdict, r.ExitCode = checker.Unknown, 2
	for _, w := range Words() {
		if got := (Expectation{Outcome: w}).Compare(2, r); len(got) > 0 {
			t.Errorf("contradicts %s: %v", w, got)
		}
	}
	e := Expectation{Outcome: Safe, Exit: codes{0}, Verdicts: verdicts{checker.Ownership: checker.Fail}}
	if got := e.Compare(2, r); len(got) != 2 || got[0].What != DiffExit || got[1].What != DiffVerdict {
		t.Errorf("%v", got)
	}
}

// A run without results meets an exit code, and no expectation of results.
func TestARunWithoutResults(t *testing.T) {
	if got := (Expectation{Exit: codes{3}}).Compare(3, nil); len(got) > 0 {
		t.Errorf("refused as it must be: %v", got)
	}
	for _, e := range []Expectation{
		{Outcome: Any},
		{Verdicts: verdicts{checker.Ownership: checker.Pass}},
		{Classes: classes{checker.Ownership: checker.Defect}},
		{Rules: map[string][]string{checker.Ownership: {"overlap"}}},
		{Figures: figures{"grants": AtLeast(0)}},
	} {
		if got := e.Compare(4, nil); len(got) != 1 || got[0].What != DiffResults {
			t.Errorf("%+v: %v", e, got)
		}
	}
}

// Differences read as sentences.
func TestSentences(t *testing.T) {
	e := Expectation{
		Exit: codes{0}, Outcome: Safe, Verdicts: verdicts{checker.FencingTokens: checker.Pass},
		Classes: classes{checker.MutualExclusion: checker.Defect}, Figures: figures{"violations": between(3, 4)},
	}
	const want = `exit code 1, expected 0
inherent, expected safe (mutual-exclusion failed)
fencing-tokens: skipped, expected pass (this lock issues no fencing tokens)
mutual-exclusion: inherent, expected defect (c1 and c2)
violations: 2, expected 3 to 4`
	if got := Sentences(e.Compare(1, violating())); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Only violations are settled before a run has ended, and only where a defect that comes later would change nothing.
func TestSettled(t *testing.T) {
	lin := checker.LockLinearizability
	r := violating()
	r.Checks[lin] = required(checker.Finding{Rule: "two-holders", Class: checker.Defect, Gating: true})
	fails := verdicts{lin: checker.Fail}
	for name, c := range map[string]struct {
		e    Expectation
		want bool
	}{
		"a defect":              {Expectation{Exit: codes{1}, Verdicts: fails, Classes: classes{lin: checker.Defect}}, true},
		"any class":             {Expectation{Exit: codes{1}, Verdicts: fails}, true},
		"a rule":                {Expectation{Exit: codes{1}, Rules: map[string][]string{lin: {"two-holders"}}}, true},
		"a figure that grows":   {Expectation{Exit: codes{1}, Verdicts: fails, Figures: figures{"violations": AtLeast(2)}}, true},
		"one that is too small": {Expectation{Exit: codes{1}, Verdicts: fails, Figures: figures{"violations": AtLeast(3)}}, false},
		"one that may grow":     {Expectation{Exit: codes{1}, Verdicts: fails, Figures: figures{"violations": AtMost(2)}}, false},
		"a check that has to pass": {
			Expectation{Exit: codes{1}, Verdicts: verdicts{lin: checker.Fail, checker.Ownership: checker.Pass}},
			false,
		},
		"not a defect": {
			Expectation{Exit: codes{1}, Verdicts: fails, Classes: classes{checker.MutualExclusion: checker.Inherent}},
			false,
		},
		"not yet":            {Expectation{Exit: codes{1}, Verdicts: verdicts{checker.Liveness: checker.Fail}}, false},
		"another exit code":  {Expectation{Exit: codes{1, 2}, Verdicts: fails}, false},
		"an exit code alone": {Expectation{Exit: codes{1}}, false},
		"an outcome":         {Expectation{Exit: codes{1}, Outcome: Mostly, Verdicts: fails}, false},
	} {
		if got := c.e.Settled(r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
