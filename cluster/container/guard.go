package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Guard is a process that outlives us: when we end without a word, it removes what our run has left.
//
//	lockstorm --stdin--> warden      "done": all is removed already
//	                                 end of input: lockstorm was killed
type Guard struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

const done = "done\n"

// StartGuard starts a command that calls [Ward], in a session of its own: what ends our group, or our
// terminal, does not end it.
func StartGuard(cmd *exec.Cmd) (*Guard, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Guard{cmd, in}, nil
}

// Release tells the process whether nothing is left, and waits for its end.
func (g *Guard) Release(clean bool) error {
	if g == nil {
		return nil
	}
	var err error
	if clean {
		_, err = io.WriteString(g.stdin, done)
	}
	err = errors.Join(err, g.stdin.Close())
	ended := make(chan error, 1)
	go func() { ended <- g.cmd.Wait() }()
	select {
	case wait := <-ended:
		return errors.Join(err, wait)
	case <-time.After(2 * removeLimit):
		return errors.Join(err, fmt.Errorf("process %d does not end", g.cmd.Process.Pid), g.cmd.Process.Kill(), <-ended)
	}
}

// Ward is the life of that process: it reads until its input ends, and then sweeps, unless it was told
// that all is done.
func Ward(ctx context.Context, in io.Reader, run string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	said, err := io.ReadAll(in)
	if strings.HasSuffix(string(said), done) {
		return err
	}
	return Sweep(ctx, run)
}
