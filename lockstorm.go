// Package lockstorm lets you build the command line of lockstorm around a catalogue of your own. A program whose main calls
// [Main] has all commands (run, suite, check, replay, explore and so on) for the locks, faults, workloads and checks of its
// catalogue.
//
//	func main() { lockstorm.Main("mylock", mylock.Catalogue()) }
//
// To test a lock with go test, see package lockstormtest. What a lock must do is the interface Locker of package backends.
package lockstorm

import (
	"context"
	"io"
	"os"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/suite"
)

// Main runs the command in os.Args and exits with its exit code, a constant of package harness. The name is that of the program,
// in messages. lockstorm starts the program again for each client; there Main does the client's work. Call it before anything
// else that has an effect.
func Main(name string, cat *harness.Catalogue) {
	harness.WorkerMain(cat)
	os.Exit(cli.Main(&suite.Collection{Catalogue: cat}, cli.System(name)))
}

// Run runs one command, as tests do, and returns its exit code. Results go to stdout, progress and errors to stderr. A test that
// makes runs has lockstormtest.Main as its TestMain.
func Run(ctx context.Context, name string, cat *harness.Catalogue, args []string, stdout, stderr io.Writer) int {
	return cli.Main(&suite.Collection{Catalogue: cat}, cli.State{
		Context: ctx, Name: name, Args: args, Stdout: stdout, Stderr: stderr,
	})
}
