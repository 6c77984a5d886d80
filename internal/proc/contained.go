package proc

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
)

// nobody is what root is inside a container: some servers refuse to run as root.
const nobody = 65534

// StartContained starts a command whose helpers leave its process group, as those of some
// servers do, in namespaces of its own: when it dies, the kernel ends all that it has started,
// stopped or not, and root is nobody there. Where the kernel does not allow that, it is started
// as any other; who is root cannot have it then, and the error says so.
func (s *Starter) StartContained(name string, cmd *exec.Cmd) (*Process, error) {
	err := Containable()
	if err == nil {
		cmd.SysProcAttr = namespaces()
	} else if os.Getuid() == 0 {
		return nil, fmt.Errorf("cannot start %s, which refuses to run as root: be another user (it cannot be started as `nobody`: %w)",
			name, err)
	}
	return s.start(name, cmd, true)
}

// Containable is nil where the kernel gives out namespaces.
var Containable = sync.OnceValue(func() error {
	cmd := exec.Command("true")
	cmd.SysProcAttr = namespaces()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the kernel does not allow new namespaces (user, pid, ipc): %w", err)
	}
	return nil
})

func namespaces() *syscall.SysProcAttr {
	own := func(id int) []syscall.SysProcIDMap {
		inside := id
		if id == 0 {
			inside = nobody
		}
		return []syscall.SysProcIDMap{{ContainerID: inside, HostID: id, Size: 1}}
	}
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
		UidMappings: own(os.Getuid()), GidMappings: own(os.Getgid()),
	}
}

// strays are those of all processes that are below the child, or below its guard, and have left its group.
func (p *Process) strays(all []process) (out []int) {
	if !p.sprawls {
		return nil
	}
	below := under(p.top(), all)
	delete(below, p.top())
	for _, one := range all {
		if below[one.pid] && one.group != p.Pid() {
			out = append(out, one.pid)
		}
	}
	return out
}

// Tree are a process and all that are below it.
func Tree(pid int) ([]int, error) {
	all, err := processes()
	return slices.Sorted(maps.Keys(under(pid, all))), err
}

// under are a process and all that are below it.
func under(pid int, all []process) map[int]bool {
	below := map[int]bool{pid: true}
	for grown := true; grown; { // a child may be listed before its parent
		grown = false
		for _, one := range all {
			if below[one.parent] && !below[one.pid] {
				below[one.pid], grown = true, true
			}
		}
	}
	return below
}

// Below is how many processes this one has started, directly or not, whatever their group.
func Below() (int, error) {
	all, err := processes()
	if Guarded() { // orphans are below the guard
		return len(under(os.Getppid(), all)) - 2, err
	}
	return len(under(os.Getpid(), all)) - 1, err
}

// signalEach reaches processes that have left the group; those that are gone are no error.
func (p *Process) signalEach(sig syscall.Signal, pids []int) error {
	var errs []error
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("cannot send the signal %q to process %d, which belongs to %s: %w", sig, pid, p.Name, err))
		}
	}
	return errors.Join(errs...)
}
