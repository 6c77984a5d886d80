package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

// Shrinker makes a trial smaller, as long as it shows a violation again.
type Shrinker struct {
	Catalogue *harness.Catalogue
	Target    Target
	Runs      int                                            // how many runs may be made
	Rate      int                                            // runs of them to measure how often the smallest trial shows it
	Dir       string                                         // where runs are made; only the last one stays, as "shrunk"
	Said      func(text string, taken bool, runs, shown int) // after each move; nil: silent
	Run       func(ctx context.Context, t *harness.Trial, dir string) (*checker.Results, error)
}

// Shrunk is what came of it.
type Shrunk struct {
	Target Target `json:"target"`
	Before Size   `json:"before"`
	After  Size   `json:"after"`
	Runs   int    `json:"runs"`  // made in all
	Again  int    `json:"again"` // of Of runs of the smallest trial that showed the violation
	Of     int    `json:"of"`
	Cut    string `json:"cut,omitempty"` // why it ended early

	Dir string `json:"-"` // of a run of the smallest trial that shows it
}

// Size is how large a trial is.
type Size struct {
	Steps   int           `json:"steps"` // injections
	Clients int           `json:"clients"`
	Locks   int           `json:"locks"`
	Time    time.Duration `json:"time_ns"`
}

func (s Size) String() string {
	return fmt.Sprintf("%s, %s, %s, %v", checker.Count(s.Steps, "fault step"), checker.Count(s.Clients, "client"),
		checker.Count(s.Locks, "lock"), s.Time)
}

// SizeOf is the size of a trial.
func SizeOf(t *harness.Trial) Size { return scheduleOf(t).size() }

func (s schedule) size() Size {
	return Size{s.steps(), s.cfg.Clients, s.cfg.Locks, s.cfg.Time}
}

// ErrNotAgain says that the trial as it is did not show the violation again often enough.
var ErrNotAgain = errors.New("the violation occurred again in too few repetitions of the run")

// errRuns says that all runs were made.
var errRuns = errors.New("shrink has made as many runs as --runs allows")

// Shrink looks for the smallest trial. at is when the violation was over in the run that is known, in ns. Where ctx ends, or all
// runs were made, what was found so far is returned.
func (s *Shrinker) Shrink(ctx context.Context, t *harness.Trial, at int64) (*Shrunk, error) {
	now := scheduleOf(t)
	out := &Shrunk{Target: s.Target, Before: now.size(), After: now.size()}
	w := &work{Shrinker: s, ctx: ctx, out: out, at: time.Duration(at)}
	first, err := w.try(now)
	switch {
	case err != nil:
		return out, err
	case !first.taken:
		return out, fmt.Errorf("%w: %d of %d", ErrNotAgain, first.hit, first.runs)
	}
	w.say("the original run, without changes", first)
	refused := map[string]bool{} // by its text: what is not possible with more is not possible with less
	for again := true; again; {
		again = false
		for _, m := range now.moves(w.at) {
			if refused[m.text] {
				continue
			}
			r, err := w.try(m.to)
			if errors.Is(err, errImpossible) {
				continue
			}
			if err != nil {
				return w.end(now, err)
			}
			w.say(m.text, r)
			if r.taken {
				now, again = m.to, true
				break // its moves are others
			}
			refused[m.text] = true
		}
	}
	return w.end(now, nil)
}

// work is one search.
type work struct {
	*Shrinker

	ctx  context.Context //nolint:containedctx // of one call
	out  *Shrunk
	at   time.Duration
	best string // directory of a run of the smallest trial that shows it
}

// tried is what came of trying a schedule.
type tried struct {
	trying

	taken bool
}

// errImpossible says that a schedule cannot be one of a run: a plan names a client that is no more.
var errImpossible = errors.New("impossible")

// try runs a schedule until it is decided. The run that shows the violation is kept if the schedule is taken.
func (w *work) try(s schedule) (r tried, err error) {
	kept := ""
	var at time.Duration
	for {
		t, err := harness.Revise(w.Catalogue, s.cfg, &s.plan)
		if err != nil {
			if harness.CodeOf(err) == harness.ExitUsage {
				err = errors.Join(errImpossible, err)
			}
			return r, errors.Join(err, os.RemoveAll(kept))
		}
		if w.out.Runs >= w.Runs-w.Rate {
			return r, errors.Join(errRuns, os.RemoveAll(kept))
		}
		shown, dir, when, err := w.make(t)
		if err != nil {
			return r, errors.Join(err, os.RemoveAll(kept))
		}
		r.add(shown)
		if shown && kept == "" {
			kept, at = dir, when
		} else if err := os.RemoveAll(dir); err != nil {
			return r, err
		}
		taken, over := r.decided()
		if !over {
			continue
		}
		if r.taken = taken; !taken {
			return r, os.RemoveAll(kept)
		}
		err = os.RemoveAll(w.best)
		w.best, w.at = kept, at
		return r, err
	}
}

// make makes a run; at is when the violation was over in it.
func (w *work) make(t *harness.Trial) (shown bool, dir string, at time.Duration, err error) {
	if err := w.ctx.Err(); err != nil {
		return false, "", 0, err
	}
	w.out.Runs++
	dir = filepath.Join(w.Dir, "try-"+strconv.Itoa(w.out.Runs))
	r, err := w.Run(w.ctx, t, dir)
	if err == nil {
		err = w.ctx.Err()
	}
	if err != nil {
		return false, "", 0, errors.Join(err, os.RemoveAll(dir))
	}
	if target, end, ok := TargetOf(r, w.Target.Check); ok && target == w.Target {
		at = time.Duration(end)
	}
	return w.Target.Shows(r), dir, at, nil
}

func (w *work) say(text string, r tried) {
	if w.Said != nil {
		w.Said(text, r.taken, r.runs, r.hit)
	}
}

// end measures how often the smallest trial shows the violation, and keeps its run.
func (w *work) end(s schedule, why error) (*Shrunk, error) {
	w.out.After = s.size()
	switch {
	case errors.Is(why, errRuns):
		w.out.Cut = "shrink has made as many runs as --runs allows"
	case w.ctx.Err() != nil:
		w.out.Cut = "shrink was interrupted"
	case why != nil: // what was found stays
		return w.out, errors.Join(why, w.keep())
	}
	for w.ctx.Err() == nil && w.out.Of < w.Rate {
		t, err := harness.Revise(w.Catalogue, s.cfg, &s.plan)
		if err != nil {
			return w.out, err
		}
		shown, dir, _, err := w.make(t)
		if w.ctx.Err() != nil {
			w.out.Cut = "shrink was interrupted"
			break
		}
		if err != nil {
			return w.out, err
		}
		w.out.Of++
		if shown {
			w.out.Again++
		}
		if err := os.RemoveAll(dir); err != nil {
			return w.out, err
		}
	}
	return w.out, w.keep()
}

// keep gives the run of the smallest trial its name.
func (w *work) keep() error {
	w.out.Dir = filepath.Join(w.Dir, "shrunk")
	return os.Rename(w.best, w.out.Dir)
}
