// Command lockstorm-full is lockstorm with the libraries that make a program much larger: rueidislock (docs/adr/0027).
package main

import (
	"os"

	"github.com/lockstorm/lockstorm/cluster/container"
	"github.com/lockstorm/lockstorm/cmd/campaign"
	"github.com/lockstorm/lockstorm/cmd/claims"
	"github.com/lockstorm/lockstorm/cmd/cli"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/stores/full"
	"github.com/lockstorm/lockstorm/suite/own"
)

func main() {
	cat := harness.New(full.All()...)
	cat.Containers = container.Docker{}
	harness.WorkerMain(cat)
	os.Exit(cli.Main(own.Book(cat), cli.System("lockstorm-full"), claims.Verb, campaign.Verb))
}
