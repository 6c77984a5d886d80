// Package checks is the catalogue of all checks: where a new one is added.
package checks

import (
	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/audit"
	"github.com/lockstorm/lockstorm/checker/coverage"
	"github.com/lockstorm/lockstorm/checker/data"
	"github.com/lockstorm/lockstorm/checker/exclusion"
	"github.com/lockstorm/lockstorm/checker/liveness"
	"github.com/lockstorm/lockstorm/checker/object"
	"github.com/lockstorm/lockstorm/checker/ownership"
	"github.com/lockstorm/lockstorm/checker/tokens"
	"github.com/lockstorm/lockstorm/checker/waits"
)

// Default is the catalogue of all checks, in the order in which they are reported.
func Default() *checker.Catalogue {
	return catalog.New("check",
		audit.Check(), coverage.Check(),
		exclusion.MutualExclusion(), object.Check(),
		data.Plain(), data.Fenced(), tokens.Check(),
		exclusion.LossNotice(), ownership.Check(),
		liveness.Check(),
		waits.Fairness(), waits.Cost(), waits.Deadlock(), waits.Bounded(),
		data.Stock(), data.Once(),
	)
}
