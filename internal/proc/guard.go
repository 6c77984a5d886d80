package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// envGuard makes this program a guard; its value is the descriptor to which the guard writes the pid of its command, or the
// number of the error, negative, with which that could not be started. For the command itself, and what that starts, the value
// is guarded.
const (
	envGuard = "LOCKSTORM_GUARD"
	guarded  = "guarded"
)

// Guarded reports whether this process has a guard.
func Guarded() bool { return os.Getenv(envGuard) == guarded }

// StartSprawling starts a command that may start anything. The command shares all namespaces with this process, so that it sees,
// and is seen by, every other process. Its parent is a guard: this program once more (see init). When the
// command ends, or this process does, even by SIGKILL, the guard kills all that the command has started, stopped or not, in
// whatever session. The process that is returned has ended when nothing of that is left.
func (s *Starter) StartSprawling(name string, cmd *exec.Cmd) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find lockstorm's own binary: %w", err)
	}
	told, tells, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer told.Close() //nolint:errcheck // it was only read
	cmd.Path, cmd.Args = self, append([]string{self, cmd.Path}, cmd.Args...)
	cmd.ExtraFiles = append(cmd.ExtraFiles, tells)
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("%s=%d", envGuard, 2+len(cmd.ExtraFiles)))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	p, err := s.start(name, cmd, true)
	tells.Close() //nolint:errcheck // the guard has its own descriptor
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fscan(told, &p.pid); err != nil || p.pid < 0 {
		<-p.done
		if err == nil {
			err = syscall.Errno(-p.pid)
		}
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	return p, nil
}

// A process that StartSprawling has started as a guard never gets further than here: most packages of the program are not
// initialized yet, which costs more than all that a guard does.
func init() {
	if tells, err := strconv.Atoi(os.Getenv(envGuard)); err == nil {
		guard(tells)
	}
}

// guard starts the command in its arguments, and ends as the command did, once nothing that the command has started is left.
// Orphans become its children, so that all of it stays below the guard.
func guard(tells int) {
	runtime.LockOSThread() // the command dies with this thread
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM) // our parent has died
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // the command is to ignore it, too
			signal.Notify(over, sig)
		}
	}
	report := os.NewFile(uintptr(tells), "report")
	syscall.CloseOnExec(tells)
	os.Setenv(envGuard, guarded) //nolint:errcheck // a sound name
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	for fd := len(files); fd < tells; fd++ {
		files = append(files, os.NewFile(uintptr(fd), "passed on"))
	}
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	var command *os.Process
	if err == nil {
		//nolint:gosec // it is started to run just this program
		command, err = os.StartProcess(os.Args[1], os.Args[2:], &os.ProcAttr{
			Files: files, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
		})
	}
	if err != nil {
		errno := syscall.EINVAL
		errors.As(err, &errno)
		fmt.Fprint(report, -int(errno))
		os.Exit(1)
	}
	fmt.Fprint(report, command.Pid)
	for _, f := range append(files[3:], report) {
		f.Close() //nolint:errcheck // its end is seen when the command ends
	}
	go func() {
		<-over
		for wait := 10 * pollEvery; ; wait *= 2 { // until the last has gone: what is killed may have started another
			killBelow()
			time.Sleep(wait)
		}
	}()
	how := reap(command.Pid, func() { over <- syscall.SIGTERM })
	if how.Signaled() {
		signal.Reset()
		syscall.Kill(os.Getpid(), how.Signal()) //nolint:errcheck // else the exit code says it, as a shell's does
		os.Exit(128 + int(how.Signal()))
	}
	os.Exit(how.ExitStatus())
}

// reap waits for all children, with those that are still to come, and says how the one has ended.
func reap(one int, ended func()) (how syscall.WaitStatus) {
	for {
		var status syscall.WaitStatus
		switch pid, err := syscall.Wait4(-1, &status, 0, nil); {
		case err == syscall.ECHILD:
			return how
		case pid == one:
			how = status
			go ended()
		}
	}
}

// killBelow kills all that is below this process.
func killBelow() {
	all, err := processes()
	if err != nil {
		return // it is tried again
	}
	for pid := range under(os.Getpid(), all) {
		if pid != os.Getpid() {
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		}
	}
}
