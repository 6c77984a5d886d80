//go:build series

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/docs/tables"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/suite"
)

// TestSeriesReleases runs the libraries of adapters in the releases that can be had, with LIB_SEEDS seeds (10), and writes
// docs/releases.md anew. LIB_ONLY, LIB_FAULT and LIB_RESUME are as in TestSeriesLibraries.
func TestSeriesReleases(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "..")) // where the adapters are
	var all []suite.Case
	for _, s := range cases.Shelves() {
		for _, fault := range s.Faults {
			for _, r := range s.Releases {
				all = append(all, s.Case(r, fault))
			}
		}
	}
	measure(t, all, filepath.Join("docs", "releases.md"), tables.HasRelease, func(before string, measured map[string]tables.Measured) string {
		return tables.Releases(before, cpus(), measured)
	})
}
