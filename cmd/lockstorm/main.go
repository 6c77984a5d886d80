// Command lockstorm is a crash-test lab for distributed locks.
package main

import (
	"os"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/cli/campaign"
	"github.com/lockstorm/lockstorm/internal/cli/claims"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

func main() {
	cat := harness.New(stores.All()...)
	cat.Backends.Moved("rueidislock", "its adapter is adapters/go/rueidislock (docs/adapters.md)")
	harness.WorkerMain(cat)
	os.Exit(cli.Main(cases.Suites(cat), cli.System("lockstorm"), claims.Verb, campaign.Verb))
}
