package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// program is an adapter that runs.
type program struct {
	*conn

	cmd     *exec.Cmd
	path    string // of the file that is run
	pid     int
	starter *proc.Starter
	log     *bounded
	exited  chan struct{}
	err     error // how it ended, once exited is closed
}

// start starts an adapter. Below a guard, as a client of a run is, it shares our process group, so that what strikes us strikes
// both; else it has a group and a guard of its own. It dies with this process, and so does what it has started.
func start(argv []string, log io.Writer, now func() int64, notice func(line, int64) error) (*program, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	p := &program{
		cmd: exec.Command(argv[0], argv[1:]...), starter: proc.NewStarter(), log: &bounded{to: log, left: maxLog},
		exited: make(chan struct{}),
	}
	p.path = p.cmd.Path
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	p.cmd.Env = append(ours(os.Environ()), EnvIn+"="+strconv.Itoa(fdIn), EnvOut+"="+strconv.Itoa(fdOut))
	p.cmd.WaitDelay = EndLimit // a grandchild may keep the log open
	wait := p.cmd.Wait
	if proc.Guarded() {
		if err = p.starter.Run(p.cmd); err == nil {
			p.pid = p.cmd.Process.Pid
		}
	} else {
		var all *proc.Process
		if all, err = p.starter.StartSprawling(argv[0], p.cmd); err == nil {
			p.pid, wait = all.Pid(), func() error { return all.Wait(context.Background()) }
		}
	}
	err = errors.Join(err, theirIn.Close(), theirOut.Close())
	if err != nil {
		p.starter.Close()
		return nil, errors.Join(startError(argv[0], err), in.Close(), out.Close())
	}
	go func() {
		p.err = wait()
		close(p.exited)
	}()
	p.conn = newConn(in, out, now, notice)
	return p, nil
}

// ours is the environment without what lockstorm keeps there for itself.
func ours(env []string) []string {
	return lists.Filter(env, func(e string) bool { return !strings.HasPrefix(e, "LOCKSTORM_") })
}

func startError(file string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		if _, stat := os.Stat(file); stat == nil {
			return fmt.Errorf("%w: the first line of %s names an interpreter that does not exist", backends.ErrMissing, file)
		}
		return fmt.Errorf("the program %s does not exist", file)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s cannot be run: make it executable (chmod +x)", file)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is not a program: begin a script with its interpreter, as in #!/usr/bin/env python3",
			file)
	}
	return fmt.Errorf("cannot start %s: %w", file, err)
}

// EndLimit is how long an adapter may take to end after its pipe has, and again after it was told to.
const EndLimit = 5 * time.Second

// end ends the adapter: its pipe first, which tells it to, then by signals. It returns once it has gone.
func (p *program) end() {
	p.in.Close() //nolint:errcheck // it may be closed
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.exited:
		case <-time.After(EndLimit):
			syscall.Kill(p.pid, sig) //nolint:errcheck // it may have ended
		}
	}
	<-p.exited
	p.out.Close() //nolint:errcheck // the reader may have seen its end
	<-p.ended
	p.starter.Close()
}

// EndedBySignal reports whether an adapter, which has been closed, did not end by itself. How long the host took to say so is not
// asked: that may be longer.
func EndedBySignal(l backends.Locker) bool {
	state := l.(*locker).cmd.ProcessState //nolint:forcetypeassert // every adapter's is one
	return state.ExitCode() < 0 || state.ExitCode() > 128
}

// kill ends it at once.
func (p *program) kill() {
	syscall.Kill(p.pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
}

// Processes are the adapter of a client, and all that it has started.
func Processes(l backends.Locker) ([]int, error) {
	return proc.Tree(l.(*locker).pid) //nolint:forcetypeassert // every adapter's is one
}

// howEnded says how it ended, with the last of what it said.
func (p *program) howEnded() error {
	select {
	case <-p.exited:
	case <-time.After(EndLimit):
		return errors.New("the adapter closed its output pipe too early: its process was still running")
	}
	how := "exit 0"
	if p.err != nil {
		how = p.err.Error()
	}
	if said := p.log.last(); said != "" {
		how += ": " + said
	}
	return errors.New(how)
}

// unavailable are exit codes that say that something is missing here: of the shell, and of sysexits.h.
func (p *program) unavailable() bool {
	code := p.cmd.ProcessState.ExitCode()
	return code == 127 || code == 69
}

// maxLog is how much of what an adapter prints is kept, in bytes.
const maxLog = 1 << 20

// bounded passes on so much, and drops the rest: an adapter that floods fills no disk.
type bounded struct {
	to io.Writer

	mu   sync.Mutex
	left int
	tail string
}

// Write never fails: the adapter is not to notice.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const keep = 2 << 10
	b.tail += string(p[max(0, len(p)-keep):])
	b.tail = b.tail[max(0, len(b.tail)-keep):]
	if n := min(len(p), b.left); n > 0 {
		b.to.Write(p[:n]) //nolint:errcheck // only a log
		if b.left -= n; b.left == 0 {
			fmt.Fprintf(b.to, "\n[the adapter printed more than %d bytes: lockstorm did not keep the rest]\n", maxLog)
		}
	}
	return len(p), nil
}

// last is the last line that is not empty.
func (b *bounded) last() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(b.tail), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
