// Command demo is lockstorm with Redis alone. make demo builds it, since it takes a third of the time to build.
package main

import (
	"os"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/cluster/embedded"
	"github.com/lockstorm/lockstorm/suite"
)

func main() {
	cat := harness.New(embedded.Part())
	harness.WorkerMain(cat)
	os.Exit(cli.Main(&suite.Book{Catalogue: cat}, cli.System("lockstorm")))
}
