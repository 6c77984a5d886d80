// Package checks lets you judge a record with all checks of lockstorm: pass [Default] to checker.Judge.
package checks

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/internal/audit"
	"github.com/lockstorm/lockstorm/checker/internal/coverage"
	"github.com/lockstorm/lockstorm/checker/internal/data"
	"github.com/lockstorm/lockstorm/checker/internal/exclusion"
	"github.com/lockstorm/lockstorm/checker/internal/liveness"
	"github.com/lockstorm/lockstorm/checker/internal/object"
	"github.com/lockstorm/lockstorm/checker/internal/ownership"
	"github.com/lockstorm/lockstorm/checker/internal/tokens"
	"github.com/lockstorm/lockstorm/checker/internal/waits"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Default returns the catalogue of all checks, in the order in which they are reported.
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
