package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return "", err
	}
	return p.await(ctx, "stopped", func(s threadStates) bool { return s.total > 0 && s.stopped == s.total })
}

// Resume lets the group go on with SIGCONT and returns once no thread is stopped.
func (p *Process) Resume(ctx context.Context) (string, error) {
	if err := p.signal(syscall.SIGCONT); err != nil {
		return "", err
	}
	return p.await(ctx, "running", func(s threadStates) bool { return s.total > 0 && s.stopped == 0 })
}

func (p *Process) await(ctx context.Context, what string, ok func(threadStates) bool) (string, error) {
	for {
		if p.Exited() {
			return "", fmt.Errorf("%s (pid %d): %w", p.Name, p.Pid(), ErrGone)
		}
		s, err := groupStates(p.Pid())
		if err != nil {
			return "", err
		}
		if ok(s) {
			return fmt.Sprintf("%s of pid %d: %d of %d threads in state T", what, p.Pid(), s.stopped, s.total), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%s (pid %d) is not %s: %d of %d threads in state T: %w", p.Name, p.Pid(), what, s.stopped, s.total, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

type threadStates struct{ stopped, total int }

// groupStates counts the threads of all processes of a group and those in state T.
func groupStates(pgid int) (threadStates, error) {
	var s threadStates
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return s, err
	}
	for _, path := range stats {
		fields, ok := statFields(path)
		if !ok || fields[2] != fmt.Sprint(pgid) {
			continue
		}
		tasks, err := filepath.Glob(filepath.Join(filepath.Dir(path), "task", "[0-9]*", "stat"))
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
