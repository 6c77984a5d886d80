package checker_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// The figures of whole histories, each worked out by hand: figures gate nothing, so no verdict shows a
// wrong one. Quantiles are those of a histogram of three digits: the upper end of a value's bucket.
func TestFigures(t *testing.T) {
	datadriven.Walk(t, "testdata/figures", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			r := checker.Judge(checkertest.InputOf(t, d.Input), checks.Default())
			var b strings.Builder
			for _, name := range slices.Sorted(maps.Keys(r.Stats)) {
				fmt.Fprintf(&b, "%s %d\n", name, r.Stats[name])
			}
			return b.String()
		})
	})
}

// What a finding has beside what fixtures show: its lead, and what it cost.
func TestLeads(t *testing.T) {
	datadriven.Walk(t, "testdata/leads", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			r := checker.Judge(checkertest.InputOf(t, d.Input), checks.Default())
			var b strings.Builder
			for _, name := range r.Order {
				for _, f := range r.Checks[name].Findings {
					fmt.Fprintf(&b, "%s %s %v: %d overwritten, %d lost; %s\n", name, f.Rule, f.Grants, f.Overwritten, f.Lost,
						cmp.Or(f.Lead, "no lead"))
				}
			}
			return b.String()
		})
	})
}
