package suite

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

func required(findings ...checker.Finding) checker.Result {
	return checker.Result{Verdict: checker.Fail, Required: true, Findings: findings}
}

// The worst that a run shows is what it is; what does not gate is not.
func TestWordOf(t *testing.T) {
	inherent := checker.Finding{Class: checker.Inherent, Gating: true}
	defect := checker.Finding{Class: checker.Defect, Gating: true}
	stuck := checker.Finding{Class: checker.NoClass, Gating: true}
	doubtful := checker.Finding{Class: checker.Inherent, Gating: true, Doubtful: true}
	reported := checker.Finding{Class: checker.Defect}
	for name, c := range map[string]struct {
		checks map[string]checker.Result
		want   Outcome
	}{
		"nothing":  {nil, Safe},
		"inherent": {map[string]checker.Result{checker.MutualExclusion: required(inherent)}, Inherent},
		"one defect": {map[string]checker.Result{
			checker.MutualExclusion: required(inherent, defect),
			checker.DataPlain:       required(inherent),
		}, Defect},
		"undetermined": {map[string]checker.Result{
			checker.MutualExclusion: required(checker.Finding{Class: checker.Undetermined, Gating: true}),
		}, Defect},
		"blocks": {map[string]checker.Result{checker.Liveness: required(stuck)}, Blocks},
		"blocks and defect": {
			map[string]checker.Result{checker.Liveness: required(stuck), checker.Ownership: required(defect)},
			Defect,
		},
		"inherent and stuck": {map[string]checker.Result{
			checker.MutualExclusion: required(inherent),
			checker.Liveness:        required(stuck),
		}, Blocks},
		"doubtful":      {map[string]checker.Result{checker.MutualExclusion: required(doubtful)}, Safe},
		"does not gate": {map[string]checker.Result{checker.MutualExclusion: required(reported)}, Safe},
		"not required": {map[string]checker.Result{
			checker.LossNotice: {Verdict: checker.Fail, Findings: []checker.Finding{stuck}},
		}, Safe},
	} {
		for range 10 { // maps have no order
			if got := WordOf(&checker.Results{Checks: c.checks}); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

// A violation is never safe, even if no finding says what it is.
func TestAViolationIsNeverSafe(t *testing.T) {
	r := &checker.Results{Verdict: checker.Fail, Checks: map[string]checker.Result{checker.Ownership: required()}}
	if got := WordOf(r); got != Defect {
		t.Errorf("%s, want %s", got, Defect)
	}
}

// Which ends of a run contradict which words. Every word is explained.
func TestWordsAllow(t *testing.T) {
	allowed := map[Outcome][]Outcome{
		Safe: {Safe}, Inherent: {Inherent}, Mostly: {Safe, Inherent}, Defect: {Defect}, Blocks: {Blocks},
		Violated: {Inherent, Blocks, Defect}, Any: {Safe, Inherent, Blocks, Defect},
	}
	for _, w := range Words() {
		if w.Doc() == "" || allowed[w] == nil {
			t.Errorf("%s is not explained, or not tested", w)
		}
		for _, got := range []Outcome{Safe, Inherent, Blocks, Defect} {
			want := false
			for _, a := range allowed[w] {
				want = want || a == got
			}
			if w.allows(got) != want {
				t.Errorf("%s allows %s: %v", w, got, !want)
			}
		}
	}
}
