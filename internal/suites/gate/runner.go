package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// Runner makes the runs of a suite that are not there yet.
type Runner struct {
	Catalogue   *harness.Catalogue
	Jobs        int           // runs at once, at most; 0: what the host can bear
	Retry       int           // how often a run is made again that the host spoilt: alone, after all others
	MaxFailures int           // runs with violations that nobody expected, after which no more are begun; 0: all are made
	Budget      time.Duration // after which no more are begun; 0: none
	Resume      bool
	Known       func(o *RunResult) bool // whether a baseline has it: it is no failure then; nil: there is none
	Timings     *Timings                // of earlier suites; nil: none
	// Progress is told of each run that begins and ends; it may be called at the same time.
	Progress func(RunProgress)
}

// RunProgress is the beginning or the end of a run.
type RunProgress struct {
	Cell    plan.Cell
	Seed    uint64
	Outcome *RunResult // nil: it begins
	Again   bool       // it will be made once more, when all others are done
	Done    int        // runs that have ended
	All     int
	Left    time.Duration // until the end, as far as one can tell
}

// job is a run to be made.
type job struct {
	cell  plan.Cell
	seed  uint64
	takes time.Duration
	needs int64
	nth   int  // attempt: those before it are stored
	again bool // it was made in this session, and spoilt
}

// same reports whether two jobs are attempts of one run.
func (j job) same(o job) bool { return o.cell.Case.Name == j.cell.Case.Name && o.seed == j.seed }

// running is a suite under way.
type running struct {
	*Runner

	s        *Suite
	begun    time.Time
	capacity int64

	mu      sync.Mutex
	todo    []job
	retries int   // rounds of them that are left; no job changes it
	spoilt  []job // to be made again
	done    int
	all     int
	failed  int
	errs    []error
}

// Run makes the runs, each in its directory, and stores what came of them as they end. When ctx ends, what
// runs is stopped and the rest is left: the suite is as complete as it can be. The error is of the
// suite's own directory.
func (r *Runner) Run(ctx context.Context, s *Suite) error {
	if err := s.begin(r.Resume); err != nil {
		return harness.Usage(err)
	}
	run := &running{Runner: r, s: s, begun: time.Now(), capacity: Capacity(), retries: r.Retry}
	run.plan(s.Cells)
	run.round(ctx, slices.Clone(run.todo), cmp.Or(r.Jobs, len(run.todo)+1))
	for len(run.spoilt) > 0 {
		jobs := run.spoilt
		run.spoilt, run.retries = nil, run.retries-1
		run.round(ctx, jobs, 1) // what runs beside it may be what spoilt it
	}
	s.Interrupted = ctx.Err() != nil
	if r.Timings != nil {
		run.errs = append(run.errs, r.Timings.Save())
	}
	return errors.Join(run.errs...)
}

// round makes runs, so many at once at most.
func (r *running) round(ctx context.Context, jobs []job, atOnce int) {
	places, room := semaphore.NewWeighted(int64(atOnce)), semaphore.NewWeighted(r.capacity)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, j := range jobs {
		needs := min(j.needs, r.capacity)
		if places.Acquire(ctx, 1) != nil {
			return
		}
		if room.Acquire(ctx, needs) != nil {
			places.Release(1)
			return
		}
		if r.over() {
			places.Release(1)
			room.Release(needs)
			return
		}
		wg.Go(func() {
			defer places.Release(1)
			defer room.Release(needs)
			r.make(ctx, j)
		})
	}
}

// plan lists the runs that are to be made: controls first, for without them nothing counts, and then the
// longest.
func (r *running) plan(cells []plan.Cell) {
	for _, c := range cells {
		if c.Skip != "" {
			continue
		}
		for _, seed := range c.Seeds {
			r.all++
			if r.have(c.Case.Name, seed) {
				r.done++
				continue
			}
			r.todo = append(r.todo, job{
				cell: c, seed: seed, nth: r.attempts(c.Case.Name, seed), takes: r.Timings.estimate(r.Catalogue, c.Case),
				needs: Needs(r.Catalogue, c.Case),
			})
		}
	}
	slices.SortStableFunc(r.todo, func(a, b job) int {
		return cmp.Or(lists.First(a.cell.Control, b.cell.Control), cmp.Compare(b.takes, a.takes))
	})
}

// have reports whether a run has its outcome, and one that lasts: what the host spoilt is made again.
func (r *running) have(cell string, seed uint64) bool {
	return slices.ContainsFunc(r.s.last(cell), func(o RunResult) bool { return o.Seed == seed && !o.Disturbed() })
}

// attempts are those of a run that are stored.
func (r *running) attempts(cell string, seed uint64) (n int) {
	for _, o := range r.s.Outcomes {
		if o.Cell == cell && o.Seed == seed {
			n = o.Attempt + 1
		}
	}
	return n
}

// over reports whether no more runs are to begin.
func (r *running) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return (r.Budget > 0 && time.Since(r.begun) > r.Budget) || (r.MaxFailures > 0 && r.failed >= r.MaxFailures) || len(r.errs) > 0
}

// make makes a run; one that the host spoilt is put by, to be made again.
func (r *running) make(ctx context.Context, j job) {
	r.tell(RunProgress{Cell: j.cell, Seed: j.seed})
	o, err := r.s.Attempt(ctx, r.Catalogue, j.cell, j.seed, j.nth)
	switch {
	case ctx.Err() != nil: // it says nothing
	case err != nil:
		r.mu.Lock()
		r.errs = append(r.errs, err)
		r.mu.Unlock()
	default:
		r.ended(j, o, o.Disturbed() && !r.over())
	}
}

func (r *running) ended(j job, o *RunResult, spoilt bool) {
	r.mu.Lock()
	r.s.Outcomes = append(r.s.Outcomes, *o)
	once := spoilt && r.retries > 0 && (o.Status != Broken || !j.again) // what is missing twice is missing
	if once {
		j.nth, j.again = j.nth+1, true
		r.spoilt = append(r.spoilt, j)
		r.todo[slices.IndexFunc(r.todo, j.same)] = j
	} else {
		r.done++
		if o.Status == Violation && (r.Known == nil || !r.Known(o)) {
			r.failed++
		}
		r.todo = slices.DeleteFunc(r.todo, j.same)
		if o.Exit != harness.ExitEnvironment {
			r.Timings.learn(j.cell.Case, o.Took)
		}
	}
	r.mu.Unlock()
	r.tell(RunProgress{Cell: j.cell, Seed: j.seed, Outcome: o, Again: once})
}

// tell adds to an event how far the suite is.
func (r *running) tell(e RunProgress) {
	if r.Progress == nil {
		return
	}
	r.mu.Lock()
	e.Done, e.All, e.Left = r.done, r.all, r.left()
	r.mu.Unlock()
	r.Progress(e)
}

// left estimates the time until the end: the remaining work over the parallel slots, and not less than its longest
// run; then the runs to repeat, one after the other.
func (r *running) left() time.Duration {
	var work float64
	var longest, alone time.Duration
	for _, j := range r.todo {
		if j.again {
			alone += j.takes
			continue
		}
		work += j.takes.Seconds() * float64(min(j.needs, r.capacity))
		longest = max(longest, j.takes)
	}
	return max(longest, time.Duration(work/float64(r.capacity)*float64(time.Second))) + alone
}

// Estimate is how long a suite will take on this host, from its beginning.
func (r *Runner) Estimate(cells []plan.Cell) time.Duration {
	run := &running{Runner: r, s: &Suite{}, capacity: Capacity()}
	run.plan(cells)
	if r.Jobs > 0 { // so many at once, and no more
		var sum time.Duration
		for _, j := range run.todo {
			sum += j.takes
		}
		return max(run.left(), sum/time.Duration(r.Jobs))
	}
	return run.left()
}

// String is the event in a line. The finding is quoted at the end of the suite.
func (e RunProgress) String() string {
	text := fmt.Sprintf("%s seed %d", e.Cell.Case.Name, e.Seed)
	if e.Outcome == nil {
		return text
	}
	short := *e.Outcome
	short.Quoted = nil
	text += ": " + short.Said()
	if e.Again {
		text += "; retried at the end"
	}
	return text
}
