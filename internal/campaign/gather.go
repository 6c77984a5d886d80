package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// State is how far a campaign is.
type State struct {
	Name      string              `json:"name"`
	Suite     string              `json:"suite"`
	Started   time.Time           `json:"started"`
	Done      int                 `json:"done"`
	Of        int                 `json:"of"`
	Attempts  int                 `json:"attempts"` // controls left out
	Disturbed int                 `json:"disturbed"`
	Statuses  map[gate.Status]int `json:"statuses"` // of runs that are done
	Queued    int                 `json:"queued"`   // tasks that the queue has, those at work included
	Lost      []string            `json:"lost,omitempty"`
	Workers   map[string]Beat     `json:"workers"`
	Rate      float64             `json:"runs_per_minute"` // lately
	Left      time.Duration       `json:"left_ns"`         // as far as one can tell; 0: not known
	Bytes     uint64              `json:"bytes"`           // of runs that are stored
	// Found are the distinct violations that searches found, by cell: each once, however many of them found it.
	Found map[string][]string `json:"found,omitempty"`
	Room  int64               `json:"room"`

	lost []Task
}

// lately is the time over which the rate is taken.
const lately = 10 * time.Minute

// State asks the queue, and compares what it has with the manifest.
func (c *Campaign) State(ctx context.Context, cat *harness.Catalogue) (*State, error) {
	tasks := c.Tasks(cat)
	b, lost, queued, err := c.look(ctx, tasks)
	if err != nil {
		return nil, err
	}
	s := &State{
		Name: c.Name, Suite: c.Definition.Name, Started: c.Definition.Started, Done: b.count(), Of: len(tasks),
		Statuses: map[gate.Status]int{}, Workers: map[string]Beat{}, Room: c.Room,
	}
	s.Queued, s.lost = queued, lost
	for _, t := range lost {
		s.Lost = append(s.Lost, c.name(t))
	}
	s.count(b)
	if s.Workers, err = c.beats(ctx); err != nil {
		return nil, err
	}
	if info, err := c.runs.Status(ctx); err == nil {
		s.Bytes = info.Size()
	}
	return s, nil
}

// count is what the outcomes say.
func (s *State) count(b *board) {
	now, recent, first := time.Now(), 0, time.Time{}
	status := map[Task]*gate.RunResult{}
	for _, r := range b.all() {
		if b.m.Definition.Cells[r.cell].Control {
			continue
		}
		o := &r.Outcome
		s.Attempts++
		if o.Disturbed() {
			s.Disturbed++
		}
		t := Task{r.cell, o.Seed}
		if before := status[t]; before == nil || o.Counts(before) {
			status[t] = o
		}
		ended := o.Began.Add(o.Took)
		if now.Sub(ended) < lately && !o.Disturbed() {
			recent++
			if first.IsZero() || o.Began.Before(first) {
				first = o.Began
			}
		}
	}
	var searched []gate.RunResult
	for t, o := range status {
		if b.done(t) {
			s.Statuses[o.Status]++
		}
		searched = append(searched, *o)
	}
	s.Found = gate.Found(searched)
	if over := min(now.Sub(first), lately); recent > 0 && over > 0 {
		s.Rate = float64(recent) / over.Minutes()
		s.Left = time.Duration(float64(s.Of-s.Done) / s.Rate * float64(time.Minute)).Round(time.Second)
	}
}

func (c *Campaign) beats(ctx context.Context) (map[string]Beat, error) {
	out := map[string]Beat{}
	names, err := c.workers.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return out, nil
	}
	if err != nil {
		return nil, c.q.Explain(err)
	}
	for _, name := range names {
		if e, err := c.workers.Get(ctx, name); err == nil { // it may have ended meanwhile
			var b Beat
			if err := json.Unmarshal(e.Value(), &b); err != nil {
				return nil, fmt.Errorf("cannot read the report of worker %s of campaign %s: %w", name, c.Name, err)
			}
			out[name] = b
		}
	}
	return out, nil
}

// Republish puts the tasks back into the queue that it has lost, and says how many.
func (c *Campaign) Republish(ctx context.Context, s *State) (int, error) {
	return len(s.lost), c.publish(ctx, s.lost, newRound(), nil)
}

// downloads is how many runs are fetched at once.
const downloads = 4

// fetchedFile says in the directory of a run who made it.
const fetchedFile = "worker.json"

// markFile says in a directory which campaign was gathered there.
const markFile = "campaign.json"

// claim makes sure that a directory is empty, or that of this campaign.
func (c *Campaign) claim(dir string) error {
	mark := struct {
		Name string `json:"name"`
		Sum  string `json:"sum"`
	}{c.Name, c.id}
	b, err := files.Claim(dir, markFile, mark)
	there := mark
	switch {
	case errors.Is(err, files.ErrNotEmpty):
		return fmt.Errorf("--out %s is not empty: name a new directory", dir)
	case b != nil && (json.Unmarshal(b, &there) != nil || there != mark):
		return fmt.Errorf("--out %s contains the result of another campaign: name a new directory", dir)
	}
	return err
}

// Gather is the suite that a campaign has come to so far. The runs are put into the directory, each where a suite would have it,
// unless they are there; those of further machines' controls are in hosts/MACHINE.
func (c *Campaign) Gather(ctx context.Context, dir string) (*gate.Suite, error) {
	if err := c.claim(dir); err != nil {
		return nil, harness.Usage(err)
	}
	b, err := c.board(ctx)
	if err != nil {
		return nil, err
	}
	s := &gate.Suite{Definition: c.Definition, Dir: dir}
	first := map[Task]string{} // the machine of a control whose run is where a suite has it
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(downloads)
	for _, r := range b.all() {
		t := Task{r.cell, r.Outcome.Seed}
		r.Outcome.Dir = gate.RunDir(r.Outcome.Cell, r.Outcome.Seed, r.Outcome.Attempt)
		if c.Definition.Cells[t.Cell].Control {
			first[t] = cmp.Or(first[t], r.Machine)
			if first[t] != r.Machine {
				r.Outcome.Dir = filepath.Join("hosts", r.Machine, r.Outcome.Dir)
			}
		}
		s.Outcomes = append(s.Outcomes, r.Outcome)
		g.Go(func() error { return c.fetch(gctx, r, filepath.Join(dir, r.Outcome.Dir)) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return s, files.WriteJSON(filepath.Join(dir, gate.DefinitionFile), s.Definition)
}

// fetch puts a run into its directory; its outcome goes there last.
func (c *Campaign) fetch(ctx context.Context, r *Result, dir string) error {
	mark := filepath.Join(dir, fetchedFile)
	if b, err := os.ReadFile(mark); err == nil {
		var there Result
		if json.Unmarshal(b, &there) == nil && there.Object == r.Object && there.Worker == r.Worker {
			return nil
		}
		if err := os.RemoveAll(dir); err != nil { // that of another machine
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	if r.Object != "" {
		o, err := c.runs.Get(ctx, r.Object)
		if err != nil {
			return fmt.Errorf("cannot fetch the files of a run (cell %s, seed %d) from the queue of the campaign: %w", r.Outcome.Cell,
				r.Outcome.Seed, c.q.Explain(err))
		}
		if err := errors.Join(unpack(o, dir), o.Close()); err != nil {
			return fmt.Errorf("cannot unpack the files of a run (cell %s, seed %d): %w", r.Outcome.Cell, r.Outcome.Seed, err)
		}
	}
	if err := files.WriteJSON(filepath.Join(dir, gate.OutcomeFile), r.Outcome); err != nil {
		return err
	}
	return files.WriteJSON(mark, r)
}
