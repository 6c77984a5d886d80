package campaign

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

// Two workers share a campaign, and end when all is done. Starting it again publishes nothing.
func TestCampaign(t *testing.T) {
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	q := open(t, s.URL())
	c := start(t, q, manifest(t, "two", 6, 2))
	var wg sync.WaitGroup
	for _, name := range []string{"w1", "w2"} {
		wg.Go(func() {
			if err := worker(t, c, name, 2, 50*time.Millisecond).Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := ended(t, c, t.TempDir()); n != 12 {
		t.Errorf("%d attempts of 12 runs", n)
	}
	again := start(t, q, manifest(t, "two", 6, 2))
	if state, err := again.State(t.Context(), catalogue()); err != nil || state.Done != 12 || state.Queued != 0 ||
		len(state.Lost) != 0 {
		t.Errorf("started again: %+v, %v", state, err)
	}
	if names, err := List(t.Context(), q); err != nil || len(names) != 1 || names[0] != "two" {
		t.Errorf("campaigns %v, %v", names, err)
	}
	if err := Remove(t.Context(), q, "two"); err != nil {
		t.Error(err)
	}
	if names, err := List(t.Context(), q); err != nil || len(names) != 0 {
		t.Errorf("after removal: %v, %v", names, err)
	}
}

// A worker that ends gives back what it has not finished, and another one makes it.
func TestWorkerEnds(t *testing.T) {
	c := begun(t, "ends", 2, 2)
	ctx, cancel := context.WithCancel(t.Context())
	first := worker(t, c, "w1", 4, time.Hour)
	do, begun := first.Do, make(chan struct{}, 4)
	first.Do = func(ctx context.Context, s *gate.Suite, cell plan.Cell, seed uint64, n int) (*gate.RunResult, error) {
		begun <- struct{}{}
		return do(ctx, s, cell, seed, n)
	}
	gone := make(chan error)
	go func() { gone <- first.Run(ctx) }()
	for range 4 {
		<-begun
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := worker(t, c, "w2", 4, time.Millisecond).Run(t.Context()); err != nil {
		t.Error(err)
	}
	if n := ended(t, c, t.TempDir()); n != 4 {
		t.Errorf("%d attempts of 4 runs", n)
	}
}

// A worker that is silent for longer than the queue waits loses its run to another one. When it goes on, both attempts are kept,
// and one counts.
func TestSilentWorker(t *testing.T) {
	c := begun(t, "silent", 1, 1)
	task := c.Tasks(catalogue())[0]
	consumer, err := c.tasks.Consumer(t.Context(), c.consumer(c.Needs[0]))
	if err != nil {
		t.Fatal(err)
	}
	msg, err := consumer.Next() // the silent one takes it, and says nothing more
	if err != nil {
		t.Fatal(err)
	}
	if err := worker(t, c, "w2", 1, time.Millisecond).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := c.board(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late := &working{
		Worker: worker(t, c, "w1", 1, time.Millisecond),
		board:  &board{m: c.Manifest, results: map[owner]map[int]*Result{}}, running: map[int]string{},
		storing: semaphore.NewWeighted(1),
	}
	if b.attempts(owner{task, ""}) != 1 {
		t.Fatalf("%d attempts", b.attempts(owner{task, ""}))
	}
	late.handle(t.Context(), msg, task, func() {})
	if n := ended(t, c, t.TempDir()); n != 2 {
		t.Errorf("%d attempts are kept of 2", n)
	}
	if state, err := c.State(t.Context(), catalogue()); err != nil || state.Done != 1 || state.Attempts != 2 ||
		state.Statuses[gate.Expected] != 1 || state.Queued != 0 {
		t.Errorf("%+v, %v", state, err)
	}
}

// What the queue has lost is published again: the manifest says what there must be.
func TestLostTasks(t *testing.T) {
	c := begun(t, "lost", 3, 1)
	if err := c.tasks.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, err := c.State(t.Context(), catalogue())
	if err != nil || len(state.Lost) != 3 {
		t.Fatalf("%+v, %v", state, err)
	}
	if n, err := c.Republish(t.Context(), state); err != nil || n != 3 {
		t.Fatalf("%d published again, %v", n, err)
	}
	if state, err := c.State(t.Context(), catalogue()); err != nil || len(state.Lost) != 0 || state.Queued != 3 {
		t.Fatalf("published again: %+v, %v", state, err)
	}
	if err := worker(t, c, "w", 1, time.Millisecond).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended(t, c, t.TempDir())
}

// A run that the host disturbed is made again, as often as it may be; its attempts are kept.
func TestDisturbed(t *testing.T) {
	c := begun(t, "disturbed", 1, 1)
	w := worker(t, c, "w", 1, time.Millisecond)
	do := w.Do
	w.Do = func(ctx context.Context, s *gate.Suite, cell plan.Cell, seed uint64, n int) (*gate.RunResult, error) {
		o, err := do(ctx, s, cell, seed, n)
		if err == nil && n == 0 {
			o.Status, o.Host, o.Exit = gate.Inconclusive, true, 2
		}
		return o, err
	}
	busyDelay = 10 * time.Millisecond
	defer func() { busyDelay = defaultBusyDelay }()
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := ended(t, c, t.TempDir()); n != 2 {
		t.Errorf("%d attempts", n)
	}
}

// Of attempts that nothing disturbed the worst counts, whichever came first.
func TestViolationStays(t *testing.T) {
	bad, good, spoilt := &gate.RunResult{Status: gate.Violation}, &gate.RunResult{Status: gate.Expected},
		&gate.RunResult{Status: gate.Inconclusive, Host: true}
	for _, c := range []struct {
		later, earlier *gate.RunResult
		counts         bool
	}{
		{good, bad, false},
		{bad, good, true},
		{good, spoilt, true},
		{spoilt, good, false},
		{spoilt, bad, false},
		{bad, spoilt, true},
		{good, good, true},
	} {
		if got := c.later.Counts(c.earlier); got != c.counts {
			t.Errorf("%s after %s counts: %v", c.later.Status, c.earlier.Status, got)
		}
	}
}

// A machine makes the controls once, whoever of its workers comes first.
func TestControls(t *testing.T) {
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	m := manifest(t, "controls", 2, 1)
	m.Definition.Cells[0].Control = true
	c := start(t, open(t, s.URL()), m)
	for i, machine := range []string{"one", "one", "two"} {
		w := worker(t, c, "w"+machine+string(rune('a'+i)), 1, time.Millisecond)
		w.Machine = machine
		if err := w.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	all, err := c.Gather(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var machines []string
	for _, o := range all.Outcomes {
		if o.Cell == "cell-0" {
			machines = append(machines, o.Dir)
		}
	}
	if got := strings.Join(machines, " "); got != "runs/cell-0/seed-1" && got != "runs/cell-0/seed-1 hosts/two/runs/cell-0/seed-1" {
		t.Errorf("controls of two machines: %s", got)
	}
}

// What cannot be is said in a sentence.
func TestRefusals(t *testing.T) {
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	q := open(t, s.URL())
	start(t, q, manifest(t, "same", 1, 1))
	if _, err := Start(t.Context(), q, catalogue(), manifest(t, "same", 2, 1), nil); err == nil ||
		!strings.Contains(err.Error(), "another campaign with the name same") {
		t.Errorf("another campaign: %v", err)
	}
	other := manifest(t, "same", 1, 1)
	other.Build = "other"
	if _, err := Start(t.Context(), q, catalogue(), other, nil); err == nil || !strings.Contains(err.Error(), "another build") {
		t.Errorf("another build: %v", err)
	}
	if _, err := Choose(t.Context(), q, "absent"); err == nil || !strings.Contains(err.Error(), "has no campaign absent (its "+
		"campaigns: same") {
		t.Errorf("absent: %v", err)
	}
	start(t, q, manifest(t, "second", 1, 1))
	if _, err := Choose(t.Context(), q, ""); err == nil || !strings.Contains(err.Error(), "choose one of same, second") {
		t.Errorf("two campaigns: %v", err)
	}
	if _, err := Make(catalogue(), gate.Definition{}, Settings{Name: "a b"}); err == nil ||
		!strings.Contains(err.Error(), "not a valid name") {
		t.Errorf("name: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/x", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), q, "same")
	if err != nil {
		t.Fatal(err)
	}
	var coded *harness.Error
	if _, err := c.Gather(t.Context(), dir); !errors.As(err, &coded) || coded.Code != harness.ExitUsage {
		t.Errorf("a directory with something in it: %v", err)
	}
}

// A queue without room says so; the worker ends with that, and not with a run that is lost.
func TestFull(t *testing.T) {
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	m := manifest(t, "full", 1, 1)
	m.Room = 8 << 10
	c := start(t, open(t, s.URL()), m)
	w := worker(t, c, "w", 1, time.Millisecond)
	do := w.Do
	w.Do = func(ctx context.Context, s *gate.Suite, cell plan.Cell, seed uint64, n int) (*gate.RunResult, error) {
		o, err := do(ctx, s, cell, seed, n)
		noise := make([]byte, 1<<20)
		for i := range noise {
			noise[i] = byte(i * i >> 3)
		}
		return o, errors.Join(err, os.WriteFile(s.Dir+"/"+o.Dir+"/log", noise, 0o644))
	}
	err := w.Run(t.Context())
	var full queue.Full
	if !errors.As(err, &full) || !strings.Contains(err.Error(), "is full") {
		t.Fatalf("%v", err)
	}
	if state, err := c.State(t.Context(), catalogue()); err != nil || state.Done != 0 || state.Queued != 1 || len(state.Lost) != 0 {
		t.Errorf("%+v, %v", state, err)
	}
}

// A worker takes only what its machine can run.
func TestUnable(t *testing.T) {
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	m := manifest(t, "unable", 2, 1)
	m.Definition.Cells[1].Case.Run = suite.MustLine("--backend sql-for-update --topology mariadb --time 1s")
	m.Needs[1] = need(catalogue(), m.Definition.Cells[1].Case)
	c := start(t, open(t, s.URL()), m)
	t.Setenv("PATH", t.TempDir()) // no server is found there
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := worker(t, c, "w", 1, time.Millisecond)
	var notes []string
	w.Progress = func(e WorkProgress) {
		if e.Note != "" {
			notes = append(notes, e.Note)
		}
		if e.Outcome != nil {
			cancel() // it will not make the other one
		}
	}
	if err := w.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(notes) == 0 || !strings.HasPrefix(notes[0], "this machine cannot execute some runs: mariadb: ") {
		t.Errorf("%q", notes)
	}
	m.Needs, m.Name = []string{"mariadb", "mariadb"}, "none"
	m.Definition.Cells[0].Case.Run = m.Definition.Cells[1].Case.Run
	var coded *harness.Error
	if err := worker(t, start(t, open(t, s.URL()), m), "w", 1, 0).Run(t.Context()); !errors.As(err, &coded) ||
		coded.Code != harness.ExitEnvironment {
		t.Errorf("a machine that can run nothing: %v", err)
	}
}

// What twenty workers have taken and not finished is given up, and said to be.
func TestGivenUp(t *testing.T) {
	c := begun(t, "up", 1, 1)
	r := &working{
		Worker: worker(t, c, "w", 1, time.Hour), board: &board{m: c.Manifest, results: map[owner]map[int]*Result{}},
		running: map[int]string{}, storing: semaphore.NewWeighted(1),
	}
	if o, again := r.attempt(t.Context(), owner{c.Tasks(catalogue())[0], ""}, mostGiven+1, func() {}); o == nil || again ||
		o.Status != gate.Broken || !strings.Contains(o.Error, "20 workers took this run") {
		t.Errorf("%+v, again %v", o, again)
	}
}
