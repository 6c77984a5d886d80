// Package lockstorm is a command line for locks of your own: a program whose main calls [Main] has all commands of lockstorm
// (run, suite, check, replay, explore and so on) for the locks, faults, workloads and checks of its catalogue.
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

// Main is the whole main function of a program: it carries out the command in the program's arguments, and ends the program with the
// exit code of the command. In the processes of clients, which are this program once more, it does the client's work.
// The name is the program's in messages.
func Main(name string, cat *harness.Catalogue) {
	harness.WorkerMain(cat)
	state := cli.System(name)
	os.Exit(cli.Main(&suite.Book{Catalogue: cat}, state))
}

// Run carries out one command, as a test does, and returns its exit code: see the constants of package harness. Results go to stdout,
// progress and errors to stderr. Before its first run, the program must have called [harness.WorkerMain] or lockstormtest.Main.
func Run(ctx context.Context, name string, cat *harness.Catalogue, args []string, stdout, stderr io.Writer) int {
	return cli.Main(&suite.Book{Catalogue: cat}, cli.State{Context: ctx, Name: name, Args: args, Stdout: stdout, Stderr: stderr})
}
