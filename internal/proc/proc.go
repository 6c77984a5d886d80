// Package proc starts child processes that never outlive their parent, and stops,
// resumes and kills them as whole process groups, with proof read back from /proc.
package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Starter starts children from one goroutine that is locked to its OS thread for good:
// the parent-death signal fires when the thread that started a child ends, not the
// process. Close it last; children that still live then are killed by the kernel.
type Starter struct {
	nice     int
	mounts   string // the mount namespace of children; empty: ours
	entered  chan error
	requests chan request
	done     chan struct{}
}

type request struct {
	cmd  *exec.Cmd
	errs chan error
}

// NewStarter begins a starter; Close ends it.
func NewStarter() *Starter { return NewNicer(0) }

// NewNicer begins a starter whose children, with all that they start, are nicer than we are by so much, where the
// kernel allows that.
func NewNicer(nice int) *Starter {
	s := &Starter{nice: nice, requests: make(chan request), done: make(chan struct{})}
	go s.lockThread()
	return s
}

// lockThread serves on a thread that ends with its goroutine, because it is never
// unlocked. The main thread of a process would not end: while it is held here, another
// goroutine must get another thread.
func (s *Starter) lockThread() {
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() {
		s.serve()
		return
	}
	locked := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(locked)
		s.serve()
	}()
	<-locked
	runtime.UnlockOSThread()
}

func (s *Starter) serve() {
	defer close(s.done)
	if s.mounts != "" {
		s.entered <- enter(s.mounts)
	}
	s.beNice()
	for r := range s.requests {
		r.errs <- r.cmd.Start()
	}
}

// beNice gives this thread the niceness that its children inherit.
func (s *Starter) beNice() {
	now, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
	if s.nice == 0 || err != nil {
		return
	}
	now = 20 - now                                                          // the kernel counts down from 20
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), min(now+s.nice, 19)) //nolint:errcheck // then they are as nice as we are
}

// Close ends the starter's thread. Children that are still alive die with it.
func (s *Starter) Close() {
	close(s.requests)
	<-s.done
}

// Process is a child in a process group of its own.
type Process struct {
	Name string
	pid  int // the leader of the group
	cmd  *exec.Cmd
	done chan struct{}
	err  error // valid after done

	sprawls bool // what it starts leaves its group

	pauses Pauses
}

// Start starts the command in a process group of its own that dies with this process.
// It takes over waiting for it.
func (s *Starter) Start(name string, cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	return s.start(name, cmd, false)
}

// Run starts the command as it is: in our process group, where it does not say otherwise. It dies with this process.
// Waiting for it is left to the caller.
func (s *Starter) Run(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if cmd.SysProcAttr.Pdeathsig == 0 {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	r := request{cmd: cmd, errs: make(chan error, 1)}
	s.requests <- r
	return <-r.errs
}

func (s *Starter) start(name string, cmd *exec.Cmd, sprawls bool) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	if err := s.Run(cmd); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	p := &Process{Name: name, pid: cmd.Process.Pid, cmd: cmd, done: make(chan struct{}), sprawls: sprawls}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Pid is the process id, which is also the id of its group.
func (p *Process) Pid() int { return p.pid }

// top is the process below which all others are: the guard, where there is one.
func (p *Process) top() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended and was waited for.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited reports whether the process has ended.
func (p *Process) Exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait waits for the end of the process and says how it ended.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("%s (pid %d) has not ended: %w", p.Name, p.Pid(), ctx.Err())
	}
}

// ErrAlive says that a process had not gone so long after SIGKILL that it is waited for no longer: its host is too
// busy, or it is stuck in the kernel.
var ErrAlive = errors.New("is still alive after SIGKILL")

// killLimit is how long End waits for what it has killed.
const killLimit = 3 * time.Second

// Kill sends SIGKILL to the whole group and waits until the process is gone, or ctx ends ([ErrAlive]). Killing
// what has ended already is no error.
func (p *Process) Kill(ctx context.Context) error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s (pid %d) %w: %w", p.Name, p.Pid(), ErrAlive, ctx.Err())
	}
}

// Terminate asks the group to end, a stopped one too, and kills it when it has not by
// the end of ctx. It returns some seconds after that at the latest, with [ErrAlive] where the process lives on.
func (p *Process) Terminate(ctx context.Context) error { return p.End(ctx, syscall.SIGTERM) }

// End is Terminate by another signal.
func (p *Process) End(ctx context.Context, sig syscall.Signal) error {
	if err := errors.Join(p.signal(sig), p.signal(syscall.SIGCONT)); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), killLimit)
		defer cancel()
		return p.Kill(killing)
	}
}

// signal reaches the whole group, and what has left it. The process is waited for by us, or by a
// guard that ends right after it, so its id cannot have gone to somebody else while done is open.
func (p *Process) signal(sig syscall.Signal) error {
	if p.Exited() {
		return nil
	}
	var strays []int
	if p.sprawls { // without a guard, those below a process that has died cannot be found any more
		all, err := processes()
		if err != nil {
			return err
		}
		strays = p.strays(all)
	}
	err := syscall.Kill(-p.Pid(), sig)
	if err != nil && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cannot send the signal %q to %s (process group %d): %w", sig, p.Name, p.Pid(), err)
	}
	if sig == syscall.SIGTERM {
		return nil // who has helpers ends them
	}
	return p.signalEach(sig, strays)
}
