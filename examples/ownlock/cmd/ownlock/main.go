// Command ownlock has the commands and flags of lockstorm, and the locks of package ownlock in its catalogue.
package main

import (
	"os"

	"example.com/ownlock"

	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

func main() {
	cat := ownlock.Catalogue()
	harness.WorkerMain(cat) // must come first: in the client processes, this call does not return
	state := cli.System("ownlock")
	state.Name = "ownlock"
	os.Exit(cli.Main(&suite.Book{Catalogue: cat}, state))
}
