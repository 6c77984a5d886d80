package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lockstorm/lockstorm/harness"
)

// ending are the signals that end the program in order. One that it was started to ignore, as by nohup, is
// not among them.
func ending() []os.Signal {
	out := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		out = append(out, syscall.SIGHUP)
	}
	return out
}

// unbroken keeps the program from being ended when nobody reads its output any more, until the function is
// called that it returns: a run goes on, and says its verdict by its exit code. Children are not concerned.
func unbroken() (restore func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// exitPipe is the exit code of a program whose output nobody reads any more, as a shell sees it: 128 and SIGPIPE.
const exitPipe = 128 + int(syscall.SIGPIPE)

// output is the standard output. What cannot be written is no reason to stop, and is told in the end, unless nobody reads.
type output struct {
	w       io.Writer
	err     error
	verdict bool // the exit code says what was found, and stays
}

// Write writes until that fails, and then nothing more.
func (o *output) Write(b []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
	return len(b), nil
}

// code is the exit code of the program: that of a verdict stays, whatever became of the output.
func (o *output) code(code int, a *App) int {
	failed := harness.ExitEnvironment
	switch {
	case o.err == nil:
		return code
	case errors.Is(o.err, syscall.EPIPE):
		failed = exitPipe
	default:
		fmt.Fprintf(a.st.Stderr, "%s: cannot write standard output: %v\n", a.st.Name, o.err)
	}
	if code == harness.ExitPass && !o.verdict {
		return failed
	}
	return code
}

// judged says that the exit code is a verdict.
func (a *App) judged() {
	if o, ok := a.st.Stdout.(*output); ok {
		o.verdict = true
	}
}
