package harness

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
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
	return &lab{s, t}
}

// A client that outlives SIGKILL, as it may on a host that is too busy, is not waited for. Its run is judged: it is
// inconclusive, and says why.
func TestAClientThatOutlivesItsKill(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "redis-lua")
	l := began(t, cfg)
	c, _ := l.join("c1")
	s := stuck{make(chan struct{}), make(chan struct{})}
	cmd := exec.Command("sh", "-c", "echo; exec sleep 60")
	cmd.Stdout = s
	var err error
	if c.Process, err = l.workers.Start("c1", cmd); err != nil {
		t.Fatal(err)
	}
	<-s.written
	l.retiring.Go(func() { l.retire(c) })

	out := &Outcome{Dir: cfg.Out}
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
	if notes := strings.Join(out.Results.Notes, "\n"); out.ExitCode() != ExitUnknown || !strings.Contains(notes, "c1") || !strings.Contains(notes, proc.ErrAlive.Error()) {
		t.Errorf("exit %d, notes:\n%s", out.ExitCode(), notes)
	}
	h, err := history.ReadFile(filepath.Join(cfg.Out, history.File))
	if err != nil || h.Whole() || out.Results.Verdict != checker.Unknown {
		t.Errorf("the record has an end: %v (%v); verdict %s", h.Whole(), err, out.Results.Verdict)
	}
}
