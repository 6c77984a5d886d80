package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrGone is returned when a process that is to be stopped has ended.
var ErrGone = errors.New("the process has ended")

const pollEvery = 500 * time.Microsecond

// Pause stops every thread of the group with SIGSTOP and returns once the kernel says
// so (state T in /proc): the signal alone is asynchronous. The text is the proof.
func (p *Process) Pause(ctx context.Context) (string, error) {
	p.pausing.Lock()
	defer p.pausing.Unlock()
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return "", err
	}
	proof, err := p.await(ctx, "stopped", func(s threadStates) bool { return s.total > 0 && s.stopped == s.total })
	if err == nil {
		p.pauses++
	}
	return proof, err
}

// Resume lets the group go on with SIGCONT and returns once no thread is stopped. A group
// that was paused several times goes on with the last resume.
func (p *Process) Resume(ctx context.Context) (string, error) {
	p.pausing.Lock()
	defer p.pausing.Unlock()
	if p.pauses = max(p.pauses-1, 0); p.pauses > 0 {
		return fmt.Sprintf("stays stopped by another pause (pid %d)", p.Pid()), nil
	}
	if err := p.signal(syscall.SIGCONT); err != nil {
		return "", err
	}
	return p.await(ctx, "running", func(s threadStates) bool { return s.total > 0 && s.stopped == 0 })
}

func (p *Process) await(ctx context.Context, what string, ok func(threadStates) bool) (string, error) {
	members, err := groupMembers(p.Pid())
	if err != nil {
		return "", err
	}
	for {
		if p.Exited() {
			return "", fmt.Errorf("%s (pid %d): %w", p.Name, p.Pid(), ErrGone)
		}
		s, err := threadsOf(members)
		if err != nil {
			return "", err
		}
		if ok(s) {
			return fmt.Sprintf("%s (pid %d, %d of %d threads in state T)", what, p.Pid(), s.stopped, s.total), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%s (pid %d) is not %s: %d of %d threads in state T: %w", p.Name, p.Pid(), what, s.stopped, s.total, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

type threadStates struct{ stopped, total int }

// groupMembers lists the /proc folders of the processes of a group.
func groupMembers(pgid int) ([]string, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var members []string
	for _, path := range stats {
		if fields, ok := statFields(path); ok && fields[2] == strconv.Itoa(pgid) {
			members = append(members, filepath.Dir(path))
		}
	}
	return members, nil
}

// threadsOf counts the threads of processes and those in state T.
func threadsOf(members []string) (threadStates, error) {
	var s threadStates
	for _, dir := range members {
		tasks, err := filepath.Glob(filepath.Join(dir, "task", "[0-9]*", "stat"))
		if err != nil {
			return s, err
		}
		for _, task := range tasks {
			if f, ok := statFields(task); ok && f[0] != "Z" && f[0] != "X" {
				s.total++
				if f[0] == "T" {
					s.stopped++
				}
			}
		}
	}
	return s, nil
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
