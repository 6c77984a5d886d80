// Package cli is the command line of lockstorm over a catalogue that is passed in: a
// lock author's own binary can offer the same verbs with an own backend. One small file
// per verb; no logic. stdout carries results, stderr progress.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/reports"
	"github.com/lockstorm/lockstorm/suite"
)

// State is all access to the operating system, so that the whole command line can be
// tested inside one process.
type State struct {
	Context  context.Context
	Name     string // of the program, for messages
	Program  string // how it was called, for commands to repeat; empty: Name
	Args     []string
	Stdin    io.Reader // nil: there is none
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal bool                // stderr is one that can erase a line
	Width    int                 // of the terminal, in columns; 0: not known
	Style    reports.Style       // of what is written to stdout
	Env      func(string) string // the environment; nil: empty
}

// System is the state of this process, for a program of the given name.
func System(name string) State {
	st := State{
		Context: context.Background(), Name: name, Program: os.Args[0], Args: os.Args[1:], Stdin: os.Stdin,
		Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv,
	}
	st.Terminal = term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
	if width, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
		st.Width = width
	}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		if width, _, err := term.GetSize(fd); err == nil {
			st.Style.Width = width
		}
		st.Style.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
	}
	return st
}

// exit is an error that only carries an exit code: everything was said already.
type exit struct{ code int }

func (e exit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// App is the command line of a program, for verbs of its own.
type App struct {
	book  *suite.Collection
	cat   *harness.Catalogue // that of the book
	st    State
	verbs []Verb
}

// Verb makes a verb of a program's own; see package claims for one.
type Verb func(*App) *cobra.Command

// State is how the program reaches the operating system.
func (a *App) State() State { return a.st }

// Suites is what the program has: its catalogue, and what it says of it.
func (a *App) Suites() *suite.Collection { return a.book }

// Main runs the command line of a program with a book, [suite.Collection], and returns the exit code. The verbs are those that it
// has beside ours.
func Main(book *suite.Collection, st State, verbs ...Verb) int {
	ctx, stop := signal.NotifyContext(st.Context, ending()...)
	defer stop()
	out := &output{w: st.Stdout}
	st.Stdout, st.Stdin = out, cmp.Or(st.Stdin, io.Reader(strings.NewReader("")))
	if st.Env == nil {
		st.Env = func(string) string { return "" }
	}
	defer unbroken()()
	go func() { // a second signal ends the program at once; the kernel ends its children
		<-ctx.Done()
		stop()
	}()
	a := &App{book: book, cat: book.Catalogue, st: st, verbs: verbs}
	root := a.root()
	root.SetArgs(st.Args)
	root.SetOut(st.Stdout)
	root.SetErr(st.Stderr)
	return out.code(a.guarded(func() error { return root.ExecuteContext(ctx) }), a)
}

// guarded turns a panic into an exit code of its own, and prints what a bug report needs.
func (a *App) guarded(f func() error) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.st.Stderr, "%s: internal error: %v\nThis is a bug in %s, not a result about the lock. Please report the bug, "+
				"with your command and the following lines (version %s):\n%s",
				a.st.Name, p, a.st.Name, Version(), debug.Stack())
			code = harness.ExitPanic
		}
	}()
	return a.code(f())
}

// code turns an error into an exit code, and says what went wrong.
func (a *App) code(err error) int {
	var ex exit
	switch code := harness.CodeOf(err); {
	case err == nil:
		return harness.ExitPass
	case errors.As(err, &ex):
		return ex.code
	case code != 0:
		fmt.Fprintf(a.st.Stderr, "%s: %v\n", a.st.Name, err)
		return code
	default: // of the command line itself
		err = a.plainFlagError(a.plainVerbError(err))
		verb := ""
		if len(a.st.Args) > 0 && slices.ContainsFunc(a.root().Commands(),
			func(c *cobra.Command) bool { return c.Name() == a.st.Args[0] }) {
			verb = " " + a.st.Args[0]
		}
		fmt.Fprintf(a.st.Stderr, "%s: %v\nTry '%s%s --help'.\n", a.st.Name, err, a.st.Name, verb)
		return harness.ExitUsage
	}
}

// plainVerbError says in a line which verb may have been meant.
func (a *App) plainVerbError(err error) error {
	if !strings.HasPrefix(err.Error(), "unknown command ") || len(a.st.Args) == 0 {
		return err
	}
	if near := a.root().SuggestionsFor(a.st.Args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q: did you mean %q?", a.st.Args[0], near[0])
	}
	return fmt.Errorf("unknown command %q", a.st.Args[0])
}

func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   a.st.Name,
		Short: "a crash-test lab for distributed locks",
		Long: `Pauses, kills and disconnects the clients and servers of a lock, then says whether two clients ever held
it at once, and which writes were lost.

Exit codes: 0 pass, 1 violation, 2 inconclusive, 3 wrong usage, 4 a server or tool is missing, 5 an unexpected result
(suite, claims), 70 a bug, 130 interrupted.`,
		Example: fmt.Sprintf(`  %[1]s run --backend redis-lua --nemesis client-pause
  %[1]s list backends
  %[1]s doctor`, a.st.Name),
		Version:       Version(),
		SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	defer onceEach(root)
	root.AddCommand(a.runCommand(), a.replayCommand(), a.checkCommand(), a.exportCommand(), a.shrinkCommand(), a.exploreCommand(),
		a.reportCommand(), a.listCommand(), a.doctorCommand(), a.serveCommand(),
		a.verifyCommand(), a.adapterCommand(), a.suiteCommand(), a.mergeCommand(), a.compareCommand(), a.initCommand(),
		a.versionCommand())
	for _, verb := range a.verbs {
		root.AddCommand(verb(a))
	}
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

// PrintJSON writes a value for programs.
func (a *App) PrintJSON(v any) error {
	enc := json.NewEncoder(a.st.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
