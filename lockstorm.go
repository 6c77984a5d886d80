// Package lockstorm builds the command line of lockstorm around a catalogue of your own. A program whose main calls [Main] has
// all commands (run, suite, check, replay, explore and so on) for the locks, faults, workloads and checks of its catalogue.
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

// Main runs the command in os.Args with a catalogue alone, as [Program.Main] does.
func Main(name string, cat *harness.Catalogue) {
	(&Program{Name: name, Suites: &suite.Collection{Catalogue: cat}}).Main()
}

// Program is a command line with more than a catalogue.
type Program struct {
	Name   string            // in messages
	Suites *suite.Collection // the catalogue, and the suites and expected outcomes of the program's own
	Verbs  []Verb            // commands beside those of lockstorm
}

// Verb builds a command of a program's own.
type Verb = cli.Verb

// App is the command line that a Verb belongs to.
type App = cli.App

// Main runs the command in os.Args and exits with its exit code, a constant of package harness. lockstorm starts the
// program again for each client; there Main does the client's work. Call it before anything else that has an effect.
func (p *Program) Main() {
	harness.WorkerMain(p.Suites.Catalogue)
	os.Exit(cli.Main(p.Suites, cli.System(p.Name), p.Verbs...))
}

// Run runs one command, as tests do, and returns its exit code. Results go to stdout, progress and errors to stderr.
// A program that makes runs must have called [harness.WorkerMain] or lockstormtest.Main before.
func (p *Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Main(p.Suites, cli.State{Context: ctx, Name: p.Name, Args: args, Stdout: stdout, Stderr: stderr}, p.Verbs...)
}

// Run is [Program.Run] for a program with a catalogue alone.
func Run(ctx context.Context, name string, cat *harness.Catalogue, args []string, stdout, stderr io.Writer) int {
	return (&Program{Name: name, Suites: &suite.Collection{Catalogue: cat}}).Run(ctx, args, stdout, stderr)
}
