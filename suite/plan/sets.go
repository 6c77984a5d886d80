package plan

import (
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// sets are the cases that exist in code, by the name under which a suite file includes them.
func sets(cat *harness.Catalogue) map[string]func() []suite.Case {
	return map[string]func() []suite.Case{
		"cells":     suite.Cells,
		"network":   suite.Network,
		"published": suite.Published,
		"ensembles": suite.Ensembles,
		"databases": suite.Databases,
		"claims":    suite.ClaimCases,
		"table":     func() []suite.Case { return suite.Table(cat) },
	}
}

// Sets are the names of the sets of cases.
func Sets(cat *harness.Catalogue) []string { return slices.Sorted(maps.Keys(sets(cat))) }
