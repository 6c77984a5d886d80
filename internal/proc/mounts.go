package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartMounting is Start in a mount namespace of its own: what is mounted there goes with the last process in it.
func (s *Starter) StartMounting(name string, cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = mounting()
	return s.start(name, cmd, false)
}

func mounting() *syscall.SysProcAttr { return &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} }

// Mountable is nil where this process may mount file systems of its own.
var Mountable = sync.OnceValue(func() error {
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("the kernel offers no file systems of programs: %w", err)
	}
	cmd := exec.Command("true")
	cmd.SysProcAttr = mounting()
	if err := errors.Join(fuse.Close(), cmd.Run()); err != nil {
		return fmt.Errorf("only root may mount a file system: %w", err)
	}
	return nil
})

// Beside begins a starter whose children live in the mount namespace of a process; Close ends it.
func Beside(pid int) (*Starter, error) {
	s := &Starter{
		mounts: fmt.Sprintf("/proc/%d/ns/mnt", pid), entered: make(chan error), requests: make(chan request), done: make(chan struct{}),
	}
	go s.lockThread()
	if err := <-s.entered; err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// enter moves this thread, which ends with its goroutine, into a mount namespace.
func enter(mounts string) error {
	f, err := os.Open(mounts)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("cannot leave the folder that all threads share: %w", err)
	}
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("cannot enter the mount namespace %s: %w", mounts, err)
	}
	return nil
}
