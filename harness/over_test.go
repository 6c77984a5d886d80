package harness

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// stuck is a process that is not gone after SIGKILL, until release is closed: what it has written cannot be taken.
type stuck struct{ written, release chan struct{} }

func (s stuck) Write(b []byte) (int, error) {
	close(s.written)
	<-s.release
	return len(b), nil
}

// began is a session of a configuration whose logs are open, and whose clients are all but processes.
func began(t *testing.T, cfg Config) *lab {
	t.Helper()
	trial, err := Resolve(testCatalogue(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(trial, cfg.Out, nil)
	s.run = trial.run("process", time.Now())
	if err := errors.Join(makeDirs(cfg.Out), s.openLogs()); err != nil {
		t.Fatal(err)
	}
	return &lab{s, t, control.SendLimit}
}

// A client that outlives SIGKILL, as it may on a host that is too busy, is not waited for. Its run is judged: it is
// inconclusive, and says why.
func TestAClientThatOutlivesItsKill(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "redis-lua")
	l := began(t, cfg)
	s := stuck{make(chan struct{}), make(chan struct{})}
	cmd := exec.Command("sh", "-c", "echo; exec sleep 60")
	cmd.Stdout = s
	p, err := l.workers.Start("c1", cmd)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := l.join("c1", func(c *client) { c.Process = p })
	<-s.written
	l.retiring.Go(func() { l.retire(c) })

	out := &RunOutcome{Dir: cfg.Out}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := l.over(ctx, true, out, nil); err != nil {
		t.Fatal(err)
	}
	if c.Exited() || !errors.Is(out.Trouble, proc.ErrAlive) {
		t.Fatalf("gone: %v, trouble: %v", c.Exited(), out.Trouble)
	}
	close(s.release)
	<-c.Done()
	if err := judgeInto(out, testCatalogue(), cfg.Out); err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(out.Results.Notes, "\n"); out.ExitCode() != ExitUnknown || !strings.Contains(notes, "c1") ||
		!strings.Contains(notes, proc.ErrAlive.Error()) {
		t.Errorf("exit %d, notes:\n%s", out.ExitCode(), notes)
	}
	h, err := history.ReadFile(filepath.Join(cfg.Out, history.File))
	if err != nil || h.Whole() || out.Results.Verdict != checker.Unknown {
		t.Errorf("the record has an end: %v (%v); verdict %s", h.Whole(), err, out.Results.Verdict)
	}
}

// stuckAfter is a backend whose clients get the lock some times, and then stay in an acquire for ever, whatever they are told.
func stuckAfter(cat *Catalogue, backend string) backends.Spec {
	spec, err := cat.Backends.Get(backend)
	if err != nil {
		panic(err)
	}
	open := spec.Open
	spec.Name, spec.Doc = "stuck-"+backend, backend+" that does not come back"
	spec.Open = func(ctx context.Context, env backends.Env) (backends.Locker, error) {
		l, err := open(ctx, env)
		return &stuckLock{Locker: l}, err
	}
	return spec
}

type stuckLock struct {
	backends.Locker
	acquired int
}

func (l *stuckLock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	if l.acquired++; l.acquired > 5 {
		select {}
	}
	return l.Locker.Acquire(ctx, req)
}

// A run that does not end by itself is cut: it is inconclusive and says why, unless what it recorded proves a violation.
func TestARunIsCut(t *testing.T) {
	t.Parallel()
	for backend, want := range map[string]int{"stuck-file-flock": ExitUnknown, "stuck-none": ExitViolation} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			cfg := shortConfig(t, backend)
			cfg.Workload = "counter:hold=50ms"
			trial, err := Resolve(testCatalogue(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			bound := time.Duration(trial.run("", time.Time{}).LivenessBound)
			trial.limits = limits{cut: 500*time.Millisecond - bound, undo: 500 * time.Millisecond, kill: endLimits.kill}
			var final time.Time
			out, err := trial.Run(t.Context(), cfg.Out, &Progress{Phase: func(name, _ string) {
				if name == history.PhaseFinal {
					final = time.Now()
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if notes := strings.Join(out.Results.Notes, "\n"); out.ExitCode() != want || !errors.Is(out.Trouble, errCut) ||
				!strings.Contains(notes, errCut.Error()) {
				t.Errorf("exit %d, want %d; trouble: %v; notes:\n%s", out.ExitCode(), want, out.Trouble, notes)
			}
			if took := time.Since(final); !final.IsZero() && took > stopLimit {
				t.Errorf("it went on for %v after its recovery test had begun, although it was cut", took)
			}
		})
	}
}
