// Command ownredis is lockstorm with a lock on Redis of your own in its catalogue.
package main

import (
	"os"

	"example.com/ownlock/ownredis"

	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

func main() {
	cat := ownredis.Catalogue()
	harness.WorkerMain(cat) // first: it does not return in the processes of the clients
	state := cli.System("ownredis")
	state.Name = "ownredis"
	os.Exit(cli.Main(&suite.Book{Catalogue: cat}, state))
}
