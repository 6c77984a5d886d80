package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sprawl is a script that tells the pids of its shell, of one in a session of its own, and of one whose parent has ended.
const sprawl = `echo $$; setsid sh -c 'echo $$; sleep 61 & sleep 61; true' & sh -c 'setsid sh -c "echo \$\$; sleep 61; true" &'; sleep 61; true`

// inSprawl is how many processes the script ends up with.
const inSprawl = 2 + 3 + 2

// controllerMain turns this process into one that starts the script, stopped where it is told so, and waits to be killed.
func controllerMain() {
	how := os.Getenv("PROC_TEST_CONTROLLER")
	if how == "" {
		return
	}
	cmd := exec.Command("sh", "-c", sprawl)
	cmd.Stdout = os.Stdout
	p, err := NewStarter().StartSprawling("sh", cmd)
	for all := 0; err == nil && all < inSprawl; {
		var members []int
		members, err = p.members()
		all = len(members)
	}
	if err == nil && how == "paused" {
		_, err = p.Pause(context.Background())
	}
	fmt.Println("ready", err)
	<-make(chan bool)
}

// Nothing is left of what a process has started that is killed, although some of it had left the group, the session and its
// parent, and was stopped.
func TestNothingOutlivesTheController(t *testing.T) {
	for _, how := range []string{"runs", "paused"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PROC_TEST_CONTROLLER="+how)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready") {
			}
			if lines.Text() != "ready <nil>" {
				t.Errorf("the controller said %q", lines.Text())
			}
			all, err := processes()
			if err != nil {
				t.Error(err)
			}
			below := under(cmd.Process.Pid, all)
			if want := 1 + 1 + inSprawl; len(below) != want { // itself, and the guard
				t.Errorf("%d processes, want %d", len(below), want)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Error("it has ended by itself")
			}
			for pid := range below {
				waitFor(t, fmt.Sprintf("end of process %d", pid), func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
			}
		})
	}
}

// Nothing is left of a command that has ended by itself, and how it ended is known.
func TestNothingOutlivesItsCommand(t *testing.T) {
	s := NewStarter()
	defer s.Close()
	for script, want := range map[string]string{
		"exit 3": "exit status 3", "kill -9 $$": "signal: killed",
		"kill -15 $$": "signal: terminated",
	} {
		cmd := exec.Command("sh", "-c", "setsid sh -c 'echo $$; sleep 61; true' & head -c1 >/dev/null; "+script)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = theirs
		p, err := s.StartSprawling("sh", cmd)
		theirs.Close() //nolint:errcheck // the child has its own
		if err != nil {
			t.Fatal(err)
		}
		var stray int
		if _, err := fmt.Fscan(out, &stray); err != nil {
			t.Fatal(err)
		}
		in.Close()  //nolint:errcheck // it may have ended
		out.Close() //nolint:errcheck // it was only read
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := p.Wait(ctx); err == nil || err.Error() != want {
			t.Errorf("%s ended with %v", script, err)
		}
		if err := syscall.Kill(stray, 0); err != syscall.ESRCH {
			t.Errorf("%s: process %d is left: %v", script, stray, err)
		}
	}
}

// Commands see each other, by pid and in /proc, and share System V objects.
func TestSprawlingProcessesSeeEachOther(t *testing.T) {
	s := NewStarter()
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	one, err := s.StartSprawling("sleep", exec.Command("sleep", "60"))
	if err != nil {
		t.Fatal(err)
	}
	looks := exec.Command("sh", "-c",
		`kill -0 $1 && test -d /proc/$1 && readlink /proc/self/ns/ipc /proc/$1/ns/ipc | uniq | wc -l | grep -qx 1`, "sh",
		strconv.Itoa(one.Pid()))
	other, err := s.StartSprawling("sh", looks)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(ctx); err != nil {
		t.Errorf("the second does not see the first: %v", err)
	}
	if err := one.Kill(ctx); err != nil {
		t.Error(err)
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	s := NewStarter()
	defer s.Close()
	if _, err := s.StartSprawling("x", exec.Command("/nonexistent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
