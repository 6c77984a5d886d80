package expect

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

// The table speaks of every pair that can be run, and of nothing else.
func TestTableAndCatalogueAgree(t *testing.T) {
	cat := harness.Default()
	known := map[string]bool{others: true}
	for _, b := range cat.Backends.All() {
		known[b.Name] = true
		for _, f := range cat.Nemeses.All() {
			if _, ok := For(b.Name, f.Name); !ok && harness.Possible(cat, b.Name, f.Name) == nil {
				t.Errorf("nothing about %s under %s", b.Name, f.Name)
			}
		}
	}
	for fault, row := range table {
		if _, err := cat.Nemeses.Get(fault); err != nil {
			t.Error(err)
		}
		for b := range row {
			if !known[b] {
				t.Errorf("%s names %q, which is no backend", fault, b)
			}
		}
	}
	for _, w := range Wants() {
		if w.Doc() == "" {
			t.Errorf("%s is not explained", w)
		}
	}
}

// The worst that a run shows is what it is; what does not gate is not.
func TestOf(t *testing.T) {
	result := func(findings ...checker.Finding) checker.Result {
		return checker.Result{Verdict: checker.Fail, Required: true, Findings: findings}
	}
	inherent := checker.Finding{Class: checker.Inherent, Gating: true}
	defect := checker.Finding{Class: checker.Defect, Gating: true}
	stuck := checker.Finding{Class: checker.NoClass, Gating: true}
	for name, c := range map[string]struct {
		checks map[string]checker.Result
		want   Want
	}{
		"nothing":            {nil, Safe},
		"inherent":           {map[string]checker.Result{checker.MutualExclusion: result(inherent)}, Inherent},
		"one defect":         {map[string]checker.Result{checker.MutualExclusion: result(inherent, defect), checker.DataPlain: result(inherent)}, Defect},
		"blocks":             {map[string]checker.Result{checker.Liveness: result(stuck)}, Blocks},
		"blocks and defect":  {map[string]checker.Result{checker.Liveness: result(stuck), checker.Ownership: result(defect)}, Defect},
		"doubtful":           {map[string]checker.Result{checker.MutualExclusion: result(checker.Finding{Class: checker.Inherent, Gating: true, Doubtful: true})}, Safe},
		"reported only":      {map[string]checker.Result{checker.LossNotice: {Verdict: checker.Fail, Findings: []checker.Finding{stuck}}}, Safe},
		"inherent and stuck": {map[string]checker.Result{checker.MutualExclusion: result(inherent), checker.Liveness: result(stuck)}, Blocks},
	} {
		for range 10 { // maps have no order
			if got := Of(&checker.Results{Checks: c.checks}); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}
