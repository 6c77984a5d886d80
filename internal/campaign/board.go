package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// Result is what came of one attempt, as it is stored.
type Result struct {
	Outcome gate.RunResult `json:"outcome"`
	Worker  string         `json:"worker"`
	Machine string         `json:"machine"`
	Object  string         `json:"object,omitempty"` // the archive of its directory; empty: there is none
	Given   uint64         `json:"given"`            // how often its message had been given out

	cell int // its place in the definition
}

// key is where an attempt is stored. Controls are kept for each machine.
func (m *Manifest) key(t Task, machine string, attempt int) string {
	if machine != "" {
		return fmt.Sprintf("%s.control.%s.%s.%d", m.id, machine, t.ID(), attempt)
	}
	return fmt.Sprintf("%s.task.%s.%d", m.id, t.ID(), attempt)
}

// backKey is where it is counted how often a task was given back.
func (m *Manifest) backKey(t Task) string { return m.id + ".back." + t.ID() }

// parseKey is key the other way.
func parseKey(s string) (t Task, machine string, attempt int, err error) {
	parts := strings.Split(s, ".")
	switch {
	case len(parts) == 3 && parts[0] == "task":
	case len(parts) == 4 && parts[0] == "control":
		machine, parts = parts[1], parts[1:]
	default:
		return t, "", 0, fmt.Errorf("expected a key of the form task.TASK.ATTEMPT or control.MACHINE.TASK.ATTEMPT, but found %q", s)
	}
	t, err = parseTask(parts[1])
	attempt, bad := strconv.Atoi(parts[2])
	return t, machine, attempt, errors.Join(err, bad)
}

func parseTask(s string) (t Task, err error) {
	cell, seed, _ := strings.Cut(s, "-")
	n, errN := strconv.Atoi(cell)
	u, errU := strconv.ParseUint(seed, 10, 64)
	return Task{n, u}, errors.Join(errN, errU)
}

// owner is whose runs are counted together: all of a task, or those of a control on one machine.
type owner struct {
	Task
	machine string
}

// board is what came of a campaign so far.
type board struct {
	m *Manifest

	mu      sync.Mutex
	results map[owner]map[int]*Result // by attempt
	n       int                       // tasks that are done
}

// board reads all outcomes.
func (c *Campaign) board(ctx context.Context) (*board, error) {
	b := &board{m: c.Manifest, results: map[owner]map[int]*Result{}}
	return b, c.watch(ctx, b, false, nil)
}

// watch reads all outcomes and, where it goes on, those that come; whole is called when all that there were are read, and for
// each that comes.
func (c *Campaign) watch(ctx context.Context, b *board, goOn bool, each func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(watchTime, func() {
		cancel(fmt.Errorf("the NATS server with the queue of the campaign did not send all stored outcomes of the runs within the "+
			"time limit: %w", nats.ErrTimeout))
	}) // of itself it waits for ever
	defer silent.Stop()
	w, err := c.results.WatchAll(ctx)
	if err != nil {
		return c.q.Explain(cancelled(ctx, err))
	}
	defer w.Stop() //nolint:errcheck // nothing depends on it
	whole := false
	for {
		select {
		case e, open := <-w.Updates():
			switch {
			case !open:
				return c.q.Explain(cancelled(ctx, nats.ErrDisconnected))
			case e == nil:
				whole = true
				silent.Stop() // from now on there may be nothing new for long
			case e.Operation() == jetstream.KeyValuePut:
				if err := b.add(e.Key(), e.Value()); err != nil {
					return err
				}
			}
			if !whole {
				silent.Reset(watchTime)
			}
			if whole && each != nil {
				each()
			}
			if whole && !goOn {
				return nil
			}
		case <-ctx.Done():
			return c.q.Explain(context.Cause(ctx))
		}
	}
}

// watchTime is how long the outcomes that there are may take to come.
const watchTime = 15 * time.Second

func (b *board) add(key string, value []byte) error {
	rest, ours := strings.CutPrefix(key, b.m.id+".")
	if !ours || strings.HasPrefix(rest, "back.") {
		return nil
	}
	t, machine, attempt, err := parseKey(rest)
	if err == nil && (t.Cell < 0 || t.Cell >= len(b.m.Definition.Cells)) {
		err = fmt.Errorf("the suite of the campaign has no cell (a backend under faults) with the number %d", t.Cell)
	}
	if err != nil {
		return fmt.Errorf("the queue of the campaign contains the outcome of a run under the key %[2]q, but campaign %[1]s has no "+
			"run with this key: %[3]w", b.m.Name, key, err)
	}
	r := &Result{}
	if err := json.Unmarshal(value, r); err != nil {
		return fmt.Errorf("cannot read the outcome %s of campaign %s: %w", key, b.m.Name, err)
	}
	if cell := b.m.Definition.Cells[t.Cell].Case.Name; r.Outcome.Cell != cell || r.Outcome.Seed != t.Seed ||
		badRune.MatchString(r.Machine) || (machine != "" && machine != r.Machine) {
		return fmt.Errorf("the outcome %s of campaign %s is stored under a wrong key: the outcome belongs to cell %q, seed %d, "+
			"machine %q", key, b.m.Name, r.Outcome.Cell, r.Outcome.Seed, r.Machine)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o := owner{t, machine}
	if b.results[o] == nil {
		b.results[o] = map[int]*Result{}
	}
	r.Outcome.Attempt, r.cell = attempt, t.Cell
	before := b.enough(o)
	b.results[o][attempt] = r
	if !before && machine == "" && b.enough(o) {
		b.n++
	}
	return nil
}

// done reports whether a task has an outcome that counts: one that the host did not disturb, or as many attempts as there may be.
func (b *board) done(t Task) bool { return b.settled(owner{t, ""}) }

func (b *board) settled(o owner) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.enough(o)
}

func (b *board) enough(o owner) bool {
	broken := map[string]bool{}
	for _, r := range b.results[o] {
		if !r.Outcome.Disturbed() {
			return true
		}
		if r.Outcome.Status == gate.Broken {
			broken[r.Machine] = true
		}
	}
	return len(b.results[o]) > b.m.Retry || len(broken) > 1 // what is missing on two machines is missing
}

// attempts are how many a task has.
func (b *board) attempts(o owner) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.results[o])
}

// count is how many tasks are done.
func (b *board) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

// all are the results in the order of the definition: of a task by attempt, of a control machine after machine.
func (b *board) all() (out []*Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range slices.SortedFunc(maps.Keys(b.results), func(x, y owner) int {
		return cmp.Or(cmp.Compare(x.Cell, y.Cell), strings.Compare(x.machine, y.machine), cmp.Compare(x.Seed, y.Seed))
	}) {
		for _, n := range slices.Sorted(maps.Keys(b.results[o])) {
			out = append(out, b.results[o][n])
		}
	}
	return out
}
