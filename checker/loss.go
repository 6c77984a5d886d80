package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker/facts"
)

// dataChecks are the checks whose findings are updates that were lost.
var dataChecks = []string{DataPlain, DataFenced}

// LossOf returns the costliest finding on data that another check's finding led to: its writer and a client that lost
// an update to it are among the grants. It returns nil if nothing was lost by it, not even for a time.
func (r *Results) LossOf(f *Finding) (most *Finding) {
	for _, name := range dataChecks {
		findings := r.Checks[name].Findings
		for i := range findings {
			d := &findings[i]
			if d.Loss() != (facts.Loss{}) && SharedGrants(d, f) >= 2 && slices.Contains(f.Grants, d.Grants[0]) &&
				(most == nil || d.Loss().Compare(most.Loss()) < 0) {
				most = d
			}
		}
	}
	return most
}

// SharedGrants returns the number of grants that two findings have in common.
func SharedGrants(a, b *Finding) int {
	n := 0
	for _, id := range a.Grants {
		if slices.Contains(b.Grants, id) {
			n++
		}
	}
	return n
}

// cost says of each finding what was lost by it.
func (r *Results) cost() {
	for name, c := range r.Checks {
		if slices.Contains(dataChecks, name) {
			continue
		}
		for i := range c.Findings {
			f := &c.Findings[i]
			if d := r.LossOf(f); d != nil && d.Loss().Compare(f.Loss()) < 0 {
				f.Cost(d.Loss())
			}
		}
	}
}
