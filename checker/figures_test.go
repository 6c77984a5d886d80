package checker_test

import (
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
