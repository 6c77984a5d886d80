// Package cli is the command line of lockstorm over a catalogue that is passed in: a
// lock author's own binary can offer the same verbs with an own backend. One small file
// per verb; no logic. stdout carries results, stderr progress.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lockstorm/lockstorm/harness"
)

// State is all access to the operating system, so that the whole command line can be
// tested inside one process.
type State struct {
	Context  context.Context
	Name     string // of the program, for messages
	Program  string // how it was called, for commands to repeat; empty: Name
	Args     []string
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal bool // stderr is one
}

// System is the state of this process, for a program of the given name.
func System(name string) State {
	return State{
		Context: context.Background(), Name: name, Program: os.Args[0], Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
}

// exit is an error that only carries an exit code: everything was said already.
type exit struct{ code int }

func (e exit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

type app struct {
	cat *harness.Catalogue
	st  State
}

// Main runs the command line and returns the exit code.
func Main(cat *harness.Catalogue, st State) int {
	ctx, stop := signal.NotifyContext(st.Context, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	go func() { // a second signal ends the program at once; the kernel ends its children
		<-ctx.Done()
		stop()
	}()
	a := &app{cat: cat, st: st}
	root := a.root()
	root.SetArgs(st.Args)
	root.SetOut(st.Stdout)
	root.SetErr(st.Stderr)
	return a.code(root.ExecuteContext(ctx))
}

// code turns an error into an exit code, and says what went wrong.
func (a *app) code(err error) int {
	var ex exit
	var he *harness.Error
	switch {
	case err == nil:
		return harness.ExitPass
	case errors.As(err, &ex):
		return ex.code
	case errors.As(err, &he):
		fmt.Fprintf(a.st.Stderr, "%s: %v\n", a.st.Name, err)
		return he.Code
	default: // of the command line itself
		verb := ""
		if len(a.st.Args) > 0 && slices.ContainsFunc(a.root().Commands(), func(c *cobra.Command) bool { return c.Name() == a.st.Args[0] }) {
			verb = " " + a.st.Args[0]
		}
		fmt.Fprintf(a.st.Stderr, "%s: %v\nTry '%s%s --help'.\n", a.st.Name, err, a.st.Name, verb)
		return harness.ExitUsage
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   a.st.Name,
		Short: "a crash-test lab for distributed locks",
		Long: `lockstorm drives concurrent clients through a lock implementation, hurts clients
and servers on purpose, records everything, and proves from the record
whether the lock kept its promises, with and without fencing tokens.

Exit codes: 0 pass, 1 violation, 2 inconclusive, 3 wrong usage, 4 something is
missing here, 130 interrupted (what was recorded is kept).`,
		Example: fmt.Sprintf(`  %[1]s run --backend redis-lua --nemesis client-pause
  %[1]s list backends
  %[1]s doctor`, a.st.Name),
		Version:       Version(),
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.runCommand(), a.replayCommand(), a.checkCommand(), a.reportCommand(), a.listCommand(), a.doctorCommand())
	return root
}

// Version is the version of this module in the binary.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	const module = "github.com/lockstorm/lockstorm"
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return "unknown"
}

// printJSON writes a value for programs.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.st.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
