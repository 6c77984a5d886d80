package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrGone is returned when a process that is to be stopped has ended.
var ErrGone = errors.New("the process has ended")

const (
	pollEvery = 500 * time.Microsecond // at first
	pollShare = 10                     // of the time that it took so far: looking costs the host that is busy
)

// Pause stops every thread of the group with SIGSTOP and returns once the kernel says
// so (state T in /proc): the signal alone is asynchronous. The text is the proof.
func (p *Process) Pause(ctx context.Context) (string, error) {
	return p.pauses.Begin(func(bool) (string, error) {
		if err := p.signal(syscall.SIGSTOP); err != nil {
			return "", err
		}
		return p.await(ctx, "paused", syscall.SIGSTOP, func(s threadStates) bool { return s.total > 0 && s.stopped == s.total })
	})
}

// Resume lets the group go on with SIGCONT and returns once no thread is stopped. A group
// that was paused several times goes on with the last resume.
func (p *Process) Resume(ctx context.Context) (string, error) {
	return p.pauses.End(fmt.Sprintf("pid %d", p.Pid()), func() (string, error) {
		if err := p.signal(syscall.SIGCONT); err != nil {
			return "", err
		}
		return p.await(ctx, "resumed", syscall.SIGCONT, func(s threadStates) bool { return s.total > 0 && s.stopped == 0 })
	})
}

// await waits for all threads to be as they were told to. A process that was started meanwhile is
// told, too: one that was stopped starts no more.
func (p *Process) await(ctx context.Context, what string, sig syscall.Signal, ok func(threadStates) bool) (string, error) {
	begun := time.Now()
	for told := map[int]bool{}; ; {
		if p.Exited() {
			return "", fmt.Errorf("%s (pid %d): %w", p.Name, p.Pid(), ErrGone)
		}
		members, err := p.tellNew(sig, told)
		if err != nil {
			return "", err
		}
		s, err := threadsOf(members)
		if err != nil {
			return "", err
		}
		if ok(s) {
			return fmt.Sprintf("%s (%s, %s: %s)", what, unix.SignalName(sig), p.among(len(members)), s), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%s (pid %d) is not %s (states of its threads: %s): %w", p.Name, p.Pid(), what, s, ctx.Err())
		case <-time.After(max(pollEvery, time.Since(begun)/pollShare)):
		}
	}
}

// among names the process, and how many others there are with it.
func (p *Process) among(all int) string {
	text := fmt.Sprintf("pid %d", p.Pid())
	if all > 1 {
		text += fmt.Sprintf(" and %d more", all-1)
	}
	return text
}

// tellNew signals those that have left the group and were not told yet, and lists all.
func (p *Process) tellNew(sig syscall.Signal, told map[int]bool) ([]int, error) {
	if !p.sprawls {
		return p.members()
	}
	all, err := processes()
	if err != nil {
		return nil, err
	}
	for _, pid := range p.strays(all) {
		if !told[pid] {
			told[pid] = true
			if err := p.signalEach(sig, []int{pid}); err != nil {
				return nil, err
			}
		}
	}
	return p.members()
}

// members are the processes of the group, and those that have left it.
func (p *Process) members() ([]int, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	var out []int
	for _, one := range all {
		if one.group == p.Pid() {
			out = append(out, one.pid)
		}
	}
	return append(out, p.strays(all)...), nil
}

type threadStates struct{ stopped, total int }

// String says it to people.
func (s threadStates) String() string {
	switch s.stopped {
	case 0:
		return fmt.Sprintf("none of %d threads is stopped", s.total)
	case s.total:
		return fmt.Sprintf("all %d threads stopped", s.total)
	}
	return fmt.Sprintf("%d of %d threads stopped", s.stopped, s.total)
}

// process is one of this host's.
type process struct{ pid, parent, group int }

// processes lists all that there are. One that has vanished meanwhile is left out.
func processes() ([]process, error) {
	pids, err := numbered("/proc")
	if err != nil {
		return nil, err
	}
	var out []process
	for _, pid := range pids {
		path := statOf("/proc", pid)
		f, ok := statFields(path)
		if !ok {
			continue
		}
		parent, errParent := strconv.Atoi(f[1])
		group, errGroup := strconv.Atoi(f[2])
		if err := errors.Join(errParent, errGroup); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, process{pid, parent, group})
	}
	return out, nil
}

// numbered lists the processes or threads of a directory of /proc; none where it has vanished. It looks into none of them: what
// the kernel shows of each costs it more than all that is read here, and once more when the process ends.
func numbered(dir string) ([]int, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, gone(err)
	}
	defer f.Close() //nolint:errcheck // read only
	names, err := f.Readdirnames(-1)
	var out []int
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			out = append(out, id)
		}
	}
	return out, gone(err)
}

// gone is an error but for those of a process that has ended.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

func tasksOf(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid), "task") }

func statOf(dir string, id int) string { return filepath.Join(dir, strconv.Itoa(id), "stat") }

// threadsOf counts the threads of processes and those that are stopped: in state T, or waiting in
// the kernel for a child that is stopped before it has begun its program (vfork), with the stop
// pending. Such a thread runs nothing of its program before its own stop.
func threadsOf(members []int) (threadStates, error) {
	var s threadStates
	var waiting []int
	parents := map[string]bool{} // of those that are stopped
	for _, pid := range members {
		dir := tasksOf(pid)
		tasks, err := numbered(dir)
		if err != nil {
			return s, err
		}
		for _, task := range tasks {
			f, ok := statFields(statOf(dir, task))
			if !ok || f[0] == "Z" || f[0] == "X" {
				continue
			}
			s.total++
			switch {
			case f[0] == "T":
				s.stopped++
				parents[f[1]] = true
			case f[0] == "D" && stopPending(filepath.Join(dir, strconv.Itoa(task))):
				waiting = append(waiting, pid)
			}
		}
	}
	for _, pid := range waiting {
		if parents[strconv.Itoa(pid)] {
			s.stopped++
		}
	}
	return s, nil
}

// stopPending reports whether a task has a SIGSTOP still to take.
func stopPending(task string) bool {
	b, err := os.ReadFile(filepath.Join(task, "status"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		name, mask, _ := strings.Cut(line, ":")
		if name != "SigPnd" && name != "ShdPnd" {
			continue
		}
		if bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64); err == nil && bits&(1<<(syscall.SIGSTOP-1)) != 0 {
			return true
		}
	}
	return false
}

// statFields are the fields of a stat file after the command name, which may itself
// contain blanks: state, parent, group, ... A file that has vanished is no error.
func statFields(path string) ([]string, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	end := strings.LastIndexByte(string(b), ')')
	if end < 0 {
		return nil, false
	}
	f := strings.Fields(string(b[end+1:]))
	return f, len(f) > 3
}
