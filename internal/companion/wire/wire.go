// Package wire is what lockstorm and lockstorm-servers tell each other about containers: net/rpc on the input and output of
// the latter. What it prints to its standard error after [Say] is for people.
package wire

import (
	"errors"
	"io"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/compose"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// Do and Stop are the two methods: Do takes a [Call] and answers with an [Answer]; Stop takes the number of a call that
// need not go on.
const (
	Service = "Containers"
	Do      = Service + ".Do"
	Stop    = Service + ".Stop"
)

// Say begins a line for people.
const Say = "lockstorm-say "

// What can be asked: of Docker, of the provider of the run, and of a server that it launched.
const (
	State     = "state"
	Leftovers = "leftovers"
	Clean     = "clean"

	Available = "available"
	Here      = "here"
	Versions  = "versions"
	Addresses = "addresses"
	Prepare   = "prepare"
	Launch    = "launch"
	Close     = "close"

	Await     = "await"
	Kill      = "kill"
	Terminate = "terminate"
	Pause     = "pause"
	Resume    = "resume"
)

// Call is a question, with as much as it needs.
type Call struct {
	Number   uint64 // for Stop
	What     string
	Images   compose.Choices
	Network  string
	Topology cluster.Topology // without its functions, as the recipe
	Recipe   cluster.Recipe
	Place    cluster.Place
	Server   int // from the answer to Launch
}

// Answer is what came of it.
type Answer struct {
	Text      string
	Words     map[string]string
	Left      []cluster.Leftover
	Addresses cluster.Addresses
	Place     cluster.Place
	Pid       int
	Server    int
	Failure   *Failure // nil: it was done
}

// Failure is an error that keeps what callers ask of it.
type Failure struct {
	Text        string
	Alive, Gone bool
}

// Failed returns the failure of an error; nil for nil.
func Failed(err error) *Failure {
	if err == nil {
		return nil
	}
	return &Failure{err.Error(), errors.Is(err, proc.ErrAlive), errors.Is(err, proc.ErrGone)}
}

func (f *Failure) Error() string { return f.Text }

// Is reports whether it was one of these errors of package proc.
func (f *Failure) Is(target error) bool {
	return f.Alive && target == proc.ErrAlive || f.Gone && target == proc.ErrGone
}

// Pipe is the two ends of a connection.
type Pipe struct {
	io.Reader
	io.WriteCloser
}
