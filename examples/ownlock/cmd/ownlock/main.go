// Command ownlock is lockstorm with a lock of your own in its catalogue: the same verbs,
// the same flags.
package main

import (
	"os"

	"example.com/ownlock"

	"github.com/lockstorm/lockstorm/cmd/cli"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

func main() {
	cat := ownlock.Catalogue()
	harness.WorkerMain(cat) // first: it does not return in the processes of the clients
	state := cli.System("ownlock")
	state.Name = "ownlock"
	os.Exit(cli.Main(&suite.Book{Catalogue: cat}, state))
}
