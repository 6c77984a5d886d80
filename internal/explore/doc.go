// Package explore makes of a run that broke a promise a smaller one that breaks it again.
//
//	trial of the run, its results -> Target: what must show again
//	                              -> moves: smaller trials, the greatest cut first
//	                              -> run each until it is certain enough (sequential test) -> the smallest trial, and its rate
package explore

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// Target is a violation, as far as two runs can have the same one.
type Target struct {
	Check string        `json:"check"`
	Rule  string        `json:"rule"`
	Class checker.Class `json:"class"`
}

func (t Target) String() string {
	if t.Class == "" || t.Class == "none" {
		return fmt.Sprintf("%s (%s)", t.Check, t.Rule)
	}
	return fmt.Sprintf("%s (%s, %s)", t.Check, t.Rule, t.Class)
}

// TargetOf is the violation that reports tell first, of all checks or of one; ok is false where there is none. at is when
// the first violation of its kind was over.
func TargetOf(r *checker.Results, check string) (t Target, at int64, ok bool) {
	var all []checker.Found
	for name, c := range r.Checks {
		if c.Verdict == checker.Fail && (check == "" || check == name) {
			for _, f := range c.Findings {
				all = append(all, checker.Found{Check: name, Finding: f})
			}
		}
	}
	if len(all) == 0 {
		return t, 0, false
	}
	f := slices.MinFunc(all, checker.RankFound)
	t = Target{f.Check, f.Finding.Rule, f.Finding.Class}
	at = f.Finding.To
	for _, o := range all { // the earliest of its kind
		if t.is(o) {
			at = min(at, o.Finding.To)
		}
	}
	return t, at, true
}

func (t Target) is(f checker.Found) bool {
	return f.Check == t.Check && f.Finding.Rule == t.Rule && f.Finding.Class == t.Class
}

// Shows reports whether results have the violation.
func (t Target) Shows(r *checker.Results) bool {
	c := r.Checks[t.Check]
	return c.Verdict == checker.Fail && slices.ContainsFunc(c.Findings,
		func(f checker.Finding) bool { return t.is(checker.Found{Check: t.Check, Finding: f}) })
}

// A smaller trial is taken when it shows the violation in nine runs of ten rather than in one of two; either error has a chance
// of one in ten (Wald's sequential test). Four runs that all show it are enough, and so are two that do not.
const (
	often, seldom = 0.9, 0.5
	wrong         = 0.1
)

// trying is the state of such a test.
type trying struct {
	ratio     float64
	runs, hit int
}

func (t *trying) add(shown bool) {
	t.runs++
	if shown {
		t.hit++
		t.ratio += math.Log(often / seldom)
	} else {
		t.ratio += math.Log((1 - often) / (1 - seldom))
	}
}

// decided says how the test has ended, if it has.
func (t *trying) decided() (taken, over bool) {
	bound := math.Log((1 - wrong) / wrong)
	return t.ratio >= bound, math.Abs(t.ratio) >= bound
}
