// Command lockstorm is a crash-test lab for distributed locks.
package main

import (
	"github.com/lockstorm/lockstorm"
	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli/campaign"
	"github.com/lockstorm/lockstorm/internal/cli/claims"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

func main() {
	cat := harness.New(stores.All()...)
	cat.Backends.Elsewhere("rueidislock", "its adapter is adapters/go/rueidislock (docs/adapters.md)")
	program := lockstorm.Program{Name: "lockstorm", Suites: cases.Book(cat), Verbs: []lockstorm.Verb{claims.Verb, campaign.Verb}}
	program.Main()
}
