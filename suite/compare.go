package suite

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// Kinds of differences.
const (
	DiffExit    = "exit code"
	DiffResults = "results" // there are none
	DiffOutcome = "outcome"
	DiffVerdict = "verdict"
	DiffClass   = "class"
	DiffRule    = "rule"
	DiffFigure  = "figure"
)

// Difference is one difference from the expected outcome.
type Difference struct {
	What string `json:"what"`         // one of the Diff constants
	Of   string `json:"of,omitempty"` // the check or the figure
	Got  string `json:"got"`
	Want string `json:"want"`
	Why  string `json:"why,omitempty"` // what the results say about it
}

// String returns the difference as a sentence.
func (d Difference) String() string {
	s := d.Got + ", expected " + d.Want
	switch {
	case d.What == DiffResults:
		s = "the run was not judged"
	case d.Of != "":
		s = d.Of + ": " + s
	case d.What == DiffExit:
		s = "exit code " + s
	}
	if d.Why != "" {
		s += " (" + d.Why + ")"
	}
	return s
}

// Sentences returns differences as text, one a line.
func Sentences(ds []Difference) string {
	lines := lists.Map(ds, func(d Difference) string { return d.String() })
	return strings.Join(lines, "\n")
}

// absent stands for what a run should have and has not.
const absent = "none"

// Compare returns where a run contradicts the expectation, always in the same order. exit is the exit code of the
// run, r its results, nil if it was refused or broke before it could be judged.
func (e Expectation) Compare(exit int, r *checker.Results) []Difference {
	var out []Difference
	if len(e.Exit) > 0 && !slices.Contains(e.Exit, exit) {
		out = append(out, Difference{What: DiffExit, Got: fmt.Sprint(exit), Want: anyOf(e.Exit)})
	}
	if r == nil {
		if e.asks() {
			out = append(out, Difference{
				What: DiffResults, Got: absent, Want: "a run that was judged",
				Why: fmt.Sprintf("exit code %d", exit),
			})
		}
		return out
	}
	out = append(out, e.outcome(exit, r)...)
	out = append(out, e.verdicts(r)...)
	out = append(out, e.classes(r)...)
	out = append(out, e.rules(r)...)
	return append(out, e.figures(r)...)
}

// Settled reports whether what a run shows so far meets the expectation, whatever comes later. That is so of violations
// alone: all of it must be expected to fail, and as a defect where a class is expected, since a defect that comes later is to
// contradict any other class.
func (e Expectation) Settled(r *checker.Results) bool {
	if !slices.Equal(e.Exit, []int{harness.ExitViolation}) || e.Outcome != "" || len(e.Verdicts)+len(e.Rules) == 0 {
		return false
	}
	for _, v := range e.Verdicts {
		if v != checker.Fail {
			return false
		}
	}
	for _, c := range e.Classes {
		if c != checker.Defect {
			return false
		}
	}
	for _, b := range e.Figures {
		if b.AtMost != nil {
			return false
		}
	}
	return len(e.Compare(r.ExitCode, r)) == 0
}

// judgedCodes are the exit codes of runs that came to their end.
func judgedCodes() []int { return []int{harness.ExitPass, harness.ExitViolation, harness.ExitUnknown} }

// outcome compares the word. An inconclusive run contradicts none; one that was
// interrupted or broke was not measured.
func (e Expectation) outcome(exit int, r *checker.Results) []Difference {
	if e.Outcome == "" {
		return nil
	}
	if len(e.Exit) == 0 && !slices.Contains(judgedCodes(), exit) {
		return []Difference{{What: DiffExit, Got: fmt.Sprint(exit), Want: anyOf(judgedCodes())}}
	}
	if r.Verdict == checker.Unknown {
		return nil
	}
	got := WordOf(r)
	if e.Outcome.allows(got) {
		return nil
	}
	return []Difference{{What: DiffOutcome, Got: string(got), Want: string(e.Outcome), Why: failed(r)}}
}

// failed lists the required checks that fail.
func failed(r *checker.Results) string {
	var names []string
	for name, c := range sorted(r.Checks) {
		if c.Required && c.Verdict == checker.Fail {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no required check fails"
	}
	return strings.Join(names, ", ") + " failed"
}

func (e Expectation) verdicts(r *checker.Results) (out []Difference) {
	for name, want := range sorted(e.Verdicts) {
		c, ok := r.Checks[name]
		got := string(c.Verdict)
		if !ok {
			got = absent
		}
		if !ok || c.Verdict != want {
			out = append(out, Difference{What: DiffVerdict, Of: name, Got: got, Want: string(want), Why: c.Reason})
		}
	}
	return out
}

// classes tells each wrong class of a check once.
func (e Expectation) classes(r *checker.Results) (out []Difference) {
	for name, want := range sorted(e.Classes) {
		findings := r.Checks[name].Findings
		if len(findings) == 0 {
			out = append(out, Difference{What: DiffClass, Of: name, Got: absent, Want: string(want), Why: "the check has no findings"})
		}
		told := map[checker.Class]bool{want: true}
		for _, f := range findings {
			if !told[f.Class] {
				out = append(out, Difference{What: DiffClass, Of: name, Got: string(f.Class), Want: string(want), Why: f.Message})
			}
			told[f.Class] = true
		}
	}
	return out
}

func (e Expectation) rules(r *checker.Results) (out []Difference) {
	for name, wanted := range sorted(e.Rules) {
		found := map[string]bool{}
		for _, f := range r.Checks[name].Findings {
			found[f.Rule] = true
		}
		got := absent
		if len(found) > 0 {
			got = strings.Join(slices.Sorted(maps.Keys(found)), ", ")
		}
		for _, rule := range wanted {
			if !found[rule] {
				out = append(out, Difference{What: DiffRule, Of: name, Got: got, Want: rule})
			}
		}
	}
	return out
}

func (e Expectation) figures(r *checker.Results) (out []Difference) {
	for name, want := range sorted(e.Figures) {
		v, ok := r.Stats[name]
		switch {
		case !ok:
			out = append(out, Difference{What: DiffFigure, Of: name, Got: absent, Want: want.String(), Why: "the figure was not measured"})
		case !want.has(v):
			out = append(out, Difference{What: DiffFigure, Of: name, Got: fmt.Sprint(v), Want: want.String()})
		}
	}
	return out
}

// anyOf lists exit codes in words.
func anyOf(codes []int) string {
	words := lists.Map(codes, func(c int) string { return fmt.Sprint(c) })
	return strings.Join(words, " or ")
}

// sorted goes through a map in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
