// Command lockstorm is a crash-test lab for distributed locks.
package main

import (
	"os"

	"github.com/lockstorm/lockstorm/cmd/cli"
	"github.com/lockstorm/lockstorm/harness"
)

func main() {
	cat := harness.Default()
	harness.WorkerMain(cat)
	os.Exit(cli.Main(cat, cli.System("lockstorm")))
}
