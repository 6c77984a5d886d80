package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/internal/leaktest"
)

func TestMain(m *testing.M) {
	controllerMain()
	leaktest.Main(m)
}

func start(t *testing.T, name string, args ...string) (context.Context, *Process) {
	t.Helper()
	s := NewStarter()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	p, err := s.Start(name, exec.Command(name, args...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // however long the test took
		defer cancel()
		if err := p.Kill(ctx); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return ctx, p
}

// A paused group is stopped to its last thread, children included, and runs again after
// the resume.
func TestPauseStopsTheWholeGroup(t *testing.T) {
	ctx, p := start(t, "sh", "-c", "sleep 60 & sleep 60; true")
	waitFor(t, "two children", func() bool {
		members, err := p.members()
		return err == nil && len(members) == 3
	})
	proof, err := p.Pause(ctx)
	if err != nil || !strings.Contains(proof, "all 3 threads stopped)") {
		t.Fatalf("pause: %q, %v", proof, err)
	}
	proof, err = p.Resume(ctx)
	if err != nil || !strings.Contains(proof, "none of 3 threads is stopped)") {
		t.Fatalf("resume: %q, %v", proof, err)
	}
}

// A process that is stopped while its child has not begun its program waits for it in the kernel, and
// is as good as stopped.
func TestPauseOfAForkThatIsNotDone(t *testing.T) {
	ctx, p := start(t, "sh", "-c", "while :; do /bin/true; done")
	enough := time.After(20 * time.Second) // each looks at all processes of the host
	for n := range 300 {
		select {
		case <-enough:
			t.Logf("%d pauses of 300 on a busy host", n)
			return
		default:
		}
		if _, err := p.Pause(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Resume(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// Two pauses of one group need two resumes: what one fault heals, the other still holds.
func TestPausesAreCounted(t *testing.T) {
	ctx, p := start(t, "sleep", "60")
	for range 2 {
		if _, err := p.Pause(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"stays stopped", "none of 1 threads is stopped"} {
		if proof, err := p.Resume(ctx); err != nil || !strings.Contains(proof, want) {
			t.Fatalf("resume: %q, %v; want %q", proof, err, want)
		}
	}
}

func TestPauseOfTheDeadIsAnError(t *testing.T) {
	ctx, p := start(t, "true")
	<-p.Done()
	if _, err := p.Pause(ctx); !errors.Is(err, ErrGone) {
		t.Fatalf("paused a dead process: %v", err)
	}
	if err := p.Kill(ctx); err != nil {
		t.Fatalf("killing what has ended already: %v", err)
	}
}

// SIGTERM that is ignored is followed by SIGKILL; a stopped process dies, too.
func TestTerminateKillsInTheEnd(t *testing.T) {
	ctx, p := start(t, "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 60; done")
	if _, err := p.Pause(ctx); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := p.Terminate(short); err != nil {
		t.Fatal(err)
	}
	if !p.Exited() {
		t.Fatal("it lives")
	}
}

// What is not gone some seconds after SIGKILL is given up: here what it wrote cannot be taken.
func TestEndGivesUp(t *testing.T) {
	t.Parallel()
	s := NewStarter()
	defer s.Close()
	r, w := io.Pipe()
	cmd := exec.Command("sh", "-c", "echo; exec sleep 60")
	cmd.Stdout = w
	p, err := s.Start("sh", cmd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(nil); err != nil { // it waits for a writer
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Terminate(ctx); !errors.Is(err, ErrAlive) {
		t.Errorf("it ends with %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
}

// The children of a starter die with its thread: what a dead controller leaves behind.
func TestChildrenDieWithTheStarter(t *testing.T) {
	s := NewStarter()
	p, err := s.Start("sleep", exec.Command("sleep", "60"))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = p.Wait(ctx)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("ended with %v, want SIGKILL", err)
	}
}

// A command name with blanks and brackets does not confuse the reading of /proc.
func TestStatFields(t *testing.T) {
	f, ok := statFields(fmt.Sprintf("/proc/%d/stat", os.Getpid()))
	if !ok || f[1] != fmt.Sprint(os.Getppid()) {
		t.Fatalf("fields %v: the second must be our parent %d", f, os.Getppid())
	}
	if _, ok := statFields("/proc/0/stat"); ok {
		t.Fatal("a process that does not exist has fields")
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("no %s in time", what)
		}
		<-time.After(time.Millisecond)
	}
}

// Those who leave the group of a sprawling process are stopped and resumed with it, and die with
// it, stopped or not: in namespaces of its own, below a guard, and without either.
func TestSprawlingProcesses(t *testing.T) {
	script := []string{"-c", "setsid sh -c 'sleep 61 & sleep 61; true' & sleep 61; true"}
	t.Run("contained", func(t *testing.T) {
		start := func(s *Starter) (*Process, error) { return s.StartContained("sh", exec.Command("sh", script...)) }
		if err := Containable(); err != nil && os.Getuid() == 0 {
			refused(t, start, err)
			return
		}
		family(t, start)
	})
	t.Run("guarded", func(t *testing.T) {
		family(t, func(s *Starter) (*Process, error) { return s.StartSprawling("sh", exec.Command("sh", script...)) })
	})
	t.Run("plain", func(t *testing.T) {
		family(t, func(s *Starter) (*Process, error) { return s.start("sh", exec.Command("sh", script...), true) })
	})
}

// refused is what root gets where the kernel gives no namespaces. In CI they must be there.
func refused(t *testing.T, start func(*Starter) (*Process, error), why error) {
	t.Helper()
	s := NewStarter()
	defer s.Close()
	if _, err := start(s); !errors.Is(err, why) || os.Getenv("CI") != "" {
		t.Fatalf("started as root, where %v: %v", why, err)
	}
}

func family(t *testing.T, start func(*Starter) (*Process, error)) {
	s := NewStarter()
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	p, err := start(s)
	if err != nil {
		t.Fatal(err)
	}
	var members []int
	waitFor(t, "five processes", func() bool {
		members, err = p.members()
		return err == nil && len(members) == 5
	})
	for _, step := range []struct {
		do   func(context.Context) (string, error)
		want string
	}{{p.Pause, "all 5 threads stopped)"}, {p.Resume, "none of 5 threads is stopped)"}, {p.Pause, "all 5 threads stopped)"}} {
		if proof, err := step.do(ctx); err != nil || !strings.Contains(proof, step.want) {
			t.Fatalf("%q, %v; want %q", proof, err, step.want)
		}
	}
	if err := p.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the end of all", func() bool {
		left, err := threadsOf(members)
		return err == nil && left.total == 0
	})
}

// The children of a nicer starter, and theirs, are nicer than we are.
func TestChildrenAreNicer(t *testing.T) {
	for _, by := range []int{0, 5} {
		var out bytes.Buffer
		s := NewNicer(by)
		cmd := exec.Command("sh", "-c", "sh -c 'nice'")
		cmd.Stdout = &out
		p, err := s.Start("sh", cmd)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Close()
		now, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(20-now+by, 19); strings.TrimSpace(out.String()) != strconv.Itoa(want) {
			t.Errorf("nicer by %d: a child has niceness %s, want %d", by, out.String(), want)
		}
	}
}
