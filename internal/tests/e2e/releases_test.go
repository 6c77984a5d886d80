//go:build series

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/docs/tables"
	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

// TestSeriesReleases runs the libraries of adapters in the releases that can be had, with LIB_SEEDS seeds (10), and writes
// docs/releases.md anew. LIB_ONLY, LIB_FAULT and LIB_RESUME are as in TestSeriesLibraries.
func TestSeriesReleases(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "..")) // where the adapters are
	var cases []suite.Case
	for _, s := range own.Shelves() {
		for _, fault := range s.Faults {
			for _, r := range s.Releases {
				cases = append(cases, s.Case(r, fault))
			}
		}
	}
	measure(t, cases, filepath.Join("docs", "releases.md"), tables.HasRelease, func(before string, measured map[string]tables.Measured) string {
		return tables.Releases(before, cpus(), measured)
	})
}
