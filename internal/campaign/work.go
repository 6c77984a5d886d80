package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Worker makes runs of a campaign on this machine.
type Worker struct {
	Campaign  *Campaign
	Catalogue *harness.Catalogue
	Name      string        // no other worker has it
	Machine   string        // workers of one machine share it
	Dir       string        // where runs are made before they are stored
	Jobs      int           // runs at once, at most; 0: what the machine can bear
	Idle      time.Duration // without a run, after which it ends; 0: it waits for the end of the campaign
	Room      int64         // shares of the machine that runs may take; 0: what it can bear
	// Do makes an attempt; nil: a run, as a suite does.
	Do func(ctx context.Context, s *gate.Suite, cell plan.Cell, seed uint64, attempt int) (*gate.RunResult, error)
	// Progress is told of what happens; it may be called at the same time.
	Progress func(WorkProgress)
}

// WorkProgress is something that a worker says.
type WorkProgress struct {
	Task    string
	Outcome *gate.RunResult // nil: it begins, or Note says more
	Note    string
	Done    int // tasks of the campaign
	Of      int
}

// How a worker waits. patience bounds how long it keeps trying to reach a queue that is away.
const (
	emptyWait        = 250 * time.Millisecond
	emptyWaitMax     = 5 * time.Second
	patience         = 10 * time.Minute
	defaultBusyDelay = 10 * time.Second // until a run that the host disturbed is given out again
	mostStoring      = 8
	// mostGiven is how many workers may lose one run before it is given up.
	mostGiven = 20
)

// busyDelay is defaultBusyDelay, except in tests.
var busyDelay = defaultBusyDelay

// working is a worker at work.
type working struct {
	*Worker

	tasks []Task
	board *board
	able  []string // needs
	from  map[string]jetstream.Consumer
	// awaySince is when the queue stopped to answer those who ask for tasks.
	awaySince time.Time
	idle      bool // it was said that nothing is left for this machine

	places  *semaphore.Weighted
	storing *semaphore.Weighted // runs that have ended, and are not stored yet
	room    *semaphore.Weighted
	all     int64 // of room

	mu      sync.Mutex
	entries int
	running map[int]string // by entry
	unable  map[int]bool   // cells for which this machine turned out to lack something
	inRow   int            // runs that could not be made here
	last    time.Time      // when the last task was taken
	failed  error
	stop    context.CancelCauseFunc
}

// errDone ends a worker when nothing is left to do.
var errDone = errors.New("every run of the campaign has an outcome, so this worker ends")

// ErrIdle says that a worker has ended because it had no run for too long; the campaign may have more.
var ErrIdle = errors.New("the queue of the campaign had no run for this machine")

// Run works until every run of the campaign has an outcome, or ctx ends; then what runs is stopped and given back.
func (w *Worker) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &working{
		Worker: w, tasks: w.Campaign.Tasks(w.Catalogue), board: &board{m: w.Campaign.Manifest, results: map[owner]map[int]*Result{}},
		all: cmp.Or(w.Room, gate.Capacity()), from: map[string]jetstream.Consumer{}, running: map[int]string{}, unable: map[int]bool{},
		last: time.Now(), stop: stop,
	}
	r.room, r.places, r.storing = semaphore.NewWeighted(r.all), semaphore.NewWeighted(int64(cmp.Or(w.Jobs, 1<<20))),
		semaphore.NewWeighted(mostStoring)
	if err := r.examine(); err != nil {
		return err
	}
	var helpers sync.WaitGroup
	defer helpers.Wait()
	known := make(chan struct{})
	helpers.Go(func() { r.follow(ctx, known) })
	helpers.Go(func() { r.beat(ctx) })
	select {
	case <-known:
	case <-ctx.Done():
		return r.end(ctx)
	}
	r.controls(ctx)
	r.dispatch(ctx)
	stop(nil)
	return r.end(ctx)
}

// end says how it ended.
func (r *working) end(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		return r.failed
	}
	if cause := context.Cause(ctx); !errors.Is(cause, errDone) {
		return cause
	}
	return nil
}

// fail ends the worker.
func (r *working) fail(err error) {
	r.mu.Lock()
	r.failed = cmp.Or(r.failed, err)
	r.mu.Unlock()
	r.stop(err)
}

// examine asks for each need whether this machine has it, as doctor does.
func (r *working) examine() error {
	needs := r.Campaign.needs()
	var why []string
	for _, need := range slices.Sorted(maps.Keys(needs)) {
		if err := lacking(r.Catalogue, r.Campaign.Definition.Cells[needs[need]]); err != nil {
			why = append(why, fmt.Sprintf("%s: %v", need, err))
			continue
		}
		r.able = append(r.able, need)
	}
	if len(r.able) == 0 {
		return harness.Environment(fmt.Errorf("this machine cannot execute any run of campaign %s: %s",
			r.Campaign.Name, strings.Join(why, "; ")))
	}
	for _, w := range why {
		r.tell(WorkProgress{Note: "this machine cannot execute some runs: " + w})
	}
	return nil
}

// follow keeps the board up to date, and ends the worker when all is done.
func (r *working) follow(ctx context.Context, known chan struct{}) {
	var once sync.Once
	var since time.Time
	for ctx.Err() == nil {
		err := r.Campaign.watch(ctx, r.board, true, func() {
			since = time.Time{}
			once.Do(func() { close(known) })
			if r.board.count() >= len(r.tasks) {
				r.stop(errDone)
			}
		})
		if ctx.Err() != nil {
			return
		}
		if since.IsZero() {
			since = time.Now()
			r.tell(WorkProgress{Note: "the queue does not answer, so this worker waits: " + err.Error()})
		}
		if time.Since(since) > patience {
			r.fail(err)
			return
		}
		nemesis.Wait(ctx, time.Second)
	}
}

// beat says that the worker lives, and what it does: regularly, and when that has changed.
func (r *working) beat(ctx context.Context) {
	said, at := "", time.Time{}
	for {
		r.mu.Lock()
		b := Beat{Machine: r.Machine, Running: slices.Sorted(maps.Values(r.running)), Needs: r.able}
		r.mu.Unlock()
		if v, err := json.Marshal(b); err == nil && (string(v) != said || time.Since(at) > beats) {
			once, cancel := context.WithTimeout(ctx, beats)
			r.Campaign.workers.Put(once, r.Name, v) //nolint:errcheck // the next one comes soon
			cancel()
			said, at = string(v), time.Now()
		}
		if !nemesis.Wait(ctx, beatEach) {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			r.Campaign.workers.Delete(last, r.Name) //nolint:errcheck // it is forgotten soon
			return
		}
	}
}

// Beat is what a worker says of itself.
type Beat struct {
	Machine string   `json:"machine"`
	Running []string `json:"running"`
	Needs   []string `json:"needs"`
}

// controls makes the controls that no worker of this machine has made yet.
func (r *working) controls(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, t := range r.Campaign.Controls() {
		o := owner{t, r.Machine}
		if r.board.settled(o) {
			continue
		}
		leave := r.enter(ctx, t)
		if leave == nil {
			return
		}
		wg.Go(func() {
			defer leave()
			for ctx.Err() == nil && !r.board.settled(o) {
				if out, _ := r.attempt(ctx, o, 1, func() {}); out == nil {
					return
				}
			}
		})
	}
}

// dispatch takes tasks and makes them, until ctx ends.
func (r *working) dispatch(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		if r.places.Acquire(ctx, 1) != nil {
			return
		}
		msg, t := r.next(ctx)
		if msg == nil {
			r.places.Release(1)
			return
		}
		settled := r.keep(ctx, msg)
		leave := r.enter(ctx, t)
		if leave == nil {
			settled()
			r.giveBack(ctx, msg, t, 0)
			r.places.Release(1)
			return
		}
		wg.Go(func() {
			free := sync.OnceFunc(func() { leave(); r.places.Release(1) })
			defer free()
			defer settled()
			r.handle(ctx, msg, t, free)
		})
	}
}

// shares are what a task takes of the machine. What the host disturbed once is made with nothing beside it.
func (r *working) shares(t Task) int64 {
	if r.board.attempts(owner{t, ""}) > 0 {
		return r.all
	}
	return min(gate.Needs(r.Catalogue, r.Campaign.Definition.Cells[t.Cell].Case), r.all)
}

// enter waits for room for a task, and returns what leaves it again; nil: ctx has ended.
func (r *working) enter(ctx context.Context, t Task) (leave func()) {
	n := r.shares(t)
	if r.room.Acquire(ctx, n) != nil {
		return nil
	}
	if n == r.all { // what is being stored disturbs, too
		if r.storing.Acquire(ctx, mostStoring) != nil {
			r.room.Release(n)
			return nil
		}
		r.storing.Release(mostStoring)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries++
	entry := r.entries
	r.running[entry] = r.Campaign.name(t)
	return func() {
		r.mu.Lock()
		delete(r.running, entry)
		r.mu.Unlock()
		r.room.Release(n)
	}
}

func (r *working) tell(e WorkProgress) {
	if r.Progress == nil {
		return
	}
	e.Done, e.Of = r.board.count(), len(r.tasks)
	r.Progress(e)
}

// MachineName tells machines apart: by their name and, where several have the same, by their id.
func MachineName() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // containers of one machine share it
	return badRune.ReplaceAllString(host, "_") + "-" + string(id[:min(8, len(id))]), nil
}
