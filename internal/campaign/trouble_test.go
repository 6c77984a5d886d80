package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// Outcomes of a campaign that had the same name count for none of another build or suite, also when its manifest is gone.
func TestOutcomesOfAnother(t *testing.T) {
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	q := open(t, s.URL())
	first := start(t, q, manifest(t, "same", 2, 1))
	if err := worker(t, first, "w1", 2, time.Millisecond).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.runs.Delete(t.Context(), manifestName); err != nil { // as its age would
		t.Fatal(err)
	}
	other := manifest(t, "same", 2, 1)
	other.Build = "other"
	c := start(t, q, other)
	state, err := c.State(t.Context(), catalogue())
	if err != nil || state.Done != 0 || state.Queued != 2 || len(state.Lost) != 0 {
		t.Fatalf("%+v, %v", state, err)
	}
	old := worker(t, first, "old", 2, time.Millisecond) // it was there before, and takes nothing of the new one
	if err := old.Run(t.Context()); err != nil {        // its own campaign is done
		t.Error(err)
	}
	if state, err := c.State(t.Context(), catalogue()); err != nil || state.Done != 0 || state.Queued != 2 {
		t.Errorf("after the old worker: %+v, %v", state, err)
	}
}

// What was given back by workers that live does not count as lost by workers that died.
func TestGivenBack(t *testing.T) {
	c := begun(t, "back", 1, 1)
	consumer, err := c.tasks.Consumer(t.Context(), c.consumer(c.Needs[0]))
	if err != nil {
		t.Fatal(err)
	}
	r := &working{Worker: worker(t, c, "w0", 1, time.Hour)}
	for range mostGiven + 2 {
		msg, err := consumer.Next()
		if err != nil {
			t.Fatal(err)
		}
		r.giveBack(t.Context(), msg, c.Tasks(catalogue())[0], 0)
	}
	if err := worker(t, c, "w1", 1, time.Millisecond).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := ended(t, c, t.TempDir()); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

// A run that was given up has no directory, and is gathered all the same.
func TestGivenUpIsGathered(t *testing.T) {
	c := begun(t, "up", 1, 1)
	put(t, c, Result{Outcome: gate.RunResult{
		Cell: "cell-0", Seed: 1, Status: gate.Broken, Exit: harness.ExitPanic,
		Error: "20 workers took this run",
	}, Machine: "here"})
	dir := t.TempDir()
	all, err := c.Gather(t.Context(), dir)
	if err != nil || len(all.Outcomes) != 1 {
		t.Fatalf("%d outcomes, %v", len(all.Outcomes), err)
	}
	if _, err := os.Stat(filepath.Join(dir, all.Outcomes[0].Dir, gate.OutcomeFile)); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, c *Campaign, r Result) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.results.Put(t.Context(), c.key(Task{0, 1}, "", 0), b); err != nil {
		t.Fatal(err)
	}
}

// An outcome that names another cell than its key, or a machine that is no name, is refused: it would be written elsewhere.
func TestOutcomesAreChecked(t *testing.T) {
	c := begun(t, "checked", 1, 1)
	for _, r := range []Result{
		{Outcome: gate.RunResult{Cell: "../../outside", Seed: 1}, Machine: "here"},
		{Outcome: gate.RunResult{Cell: "cell-0", Seed: 2}, Machine: "here"},
		{Outcome: gate.RunResult{Cell: "cell-0", Seed: 1}, Machine: "../here"},
	} {
		put(t, c, r)
		if _, err := c.Gather(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "is stored under a wrong key") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// What has ended when the worker is told to end is stored.
func TestEndedIsStored(t *testing.T) {
	c := begun(t, "stored", 1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	w := worker(t, c, "w", 1, time.Millisecond)
	do := w.Do
	w.Do = func(ctx context.Context, s *gate.Suite, cell plan.Cell, seed uint64, n int) (*gate.RunResult, error) {
		o, err := do(ctx, s, cell, seed, n)
		cancel()
		return o, err
	}
	if err := w.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := ended(t, c, t.TempDir()); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

// A machine on which run after run cannot be made does not take all of them: its worker ends.
func TestSickMachine(t *testing.T) {
	c := begun(t, "sick", 20, 1)
	w := worker(t, c, "w", 1, time.Millisecond)
	do := w.Do
	w.Do = func(ctx context.Context, s *gate.Suite, cell plan.Cell, seed uint64, n int) (*gate.RunResult, error) {
		o, err := do(ctx, s, cell, seed, n)
		if err != nil {
			return nil, err
		}
		o.Status, o.Exit, o.Error = gate.Broken, harness.ExitEnvironment, "no space left"
		return o, err
	}
	busyDelay = time.Millisecond
	defer func() { busyDelay = defaultBusyDelay }()
	var coded *harness.Error
	if err := w.Run(t.Context()); !errors.As(err, &coded) || coded.Code != harness.ExitEnvironment ||
		!strings.Contains(err.Error(), "no space left") {
		t.Fatalf("%v", err)
	}
	healthy := worker(t, c, "healthy", 4, time.Millisecond)
	healthy.Machine = "there"
	if err := healthy.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, err := c.State(t.Context(), catalogue())
	if err != nil || state.Statuses[gate.Expected] != 20 {
		t.Errorf("%+v, %v", state, err)
	}
}

// A worker notices that its queue is gone, and says so.
func TestQueueGone(t *testing.T) {
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	m := manifest(t, "gone", 1, 1)
	c := start(t, open(t, s.URL()), m)
	if err := c.tasks.Purge(t.Context()); err != nil { // nothing to do, and not done
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := worker(t, c, "w", 1, 0)
	noted := make(chan string, 10)
	w.Progress = func(e WorkProgress) { noted <- e.Note }
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	for state, err := c.State(t.Context(), catalogue()); err != nil || len(state.Workers) == 0; state,
		err = c.State(t.Context(), catalogue()) {
		<-time.After(10 * time.Millisecond) // until it is at work
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if note := <-noted; !strings.HasPrefix(note, "the queue does not answer, so this worker waits: ") {
		t.Errorf("%q", note)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A worker that has had no run for too long ends, and does not say that the campaign has ended.
func TestIdle(t *testing.T) {
	c := begun(t, "idle", 1, 1)
	if err := c.tasks.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := worker(t, c, "w", 1, 0)
	w.Idle = time.Millisecond
	if err := w.Run(t.Context()); !errors.Is(err, ErrIdle) {
		t.Errorf("%v", err)
	}
}
