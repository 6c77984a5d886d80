package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Guard is a process that outlives us: if we are killed, it removes what our run has left.
//
//	lockstorm --stdin--> warden      "make NAME", "made NAME": a call to the daemon begins, has ended
//	                                 "done": all is removed already
//	                                 end of input: lockstorm was killed
type Guard struct {
	cmd *exec.Cmd

	mu    sync.Mutex
	stdin io.WriteCloser
}

const (
	done             = "done"
	opening, closing = "make ", "made "
)

// tell writes a line; to nobody, where there is no guard.
func (g *Guard) tell(line string) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := io.WriteString(g.stdin, line+"\n")
	return err
}

// StartGuard starts a command that calls [Ward], in a session of its own: it survives the end of our process group or
// terminal.
func StartGuard(cmd *exec.Cmd) (*Guard, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Guard{cmd: cmd, stdin: in}, nil
}

// Release tells the process whether everything is removed, and waits for its end.
func (g *Guard) Release(clean bool) error {
	if g == nil {
		return nil
	}
	var err error
	if clean {
		err = g.tell(done)
	}
	err = errors.Join(err, g.stdin.Close())
	ended := make(chan error, 1)
	go func() { ended <- g.cmd.Wait() }()
	select {
	case wait := <-ended:
		return errors.Join(err, wait)
	case <-time.After(2 * sweepLimit):
		return errors.Join(err, fmt.Errorf("the guard process (pid %d) did not exit within %v, so lockstorm killed it: run "+
			"lockstorm doctor --clean to remove leftovers", g.cmd.Process.Pid,
			2*sweepLimit), g.cmd.Process.Kill(), <-ended)
	}
}

// Ward runs in that process. It reads until its input ends, and then sweeps, unless it was told that all is done.
func Ward(ctx context.Context, in io.Reader, run string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	open, clean, err := follow(in)
	if clean {
		return err
	}
	return errors.Join(err, Sweep(ctx, run, open))
}

// follow reads what a guard is told, to its end: the names that were about to be made, and whether all is
// done.
func follow(in io.Reader) (open []string, clean bool, err error) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		clean = lines.Text() == done
		if name, ok := strings.CutPrefix(lines.Text(), opening); ok {
			open = append(open, name)
		} else if name, ok := strings.CutPrefix(lines.Text(), closing); ok {
			open = slices.DeleteFunc(open, func(o string) bool { return o == name })
		}
	}
	return open, clean, lines.Err()
}
