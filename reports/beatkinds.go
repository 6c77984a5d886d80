package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

// jobs are the beats of a job that was done twice: its faults, and each time that it was done.
func (b *beater) jobs(steps []Step) []stage.Beat {
	b.faults(steps)
	var before *history.Grant
	for i, g := range grantsOf(b.rec, b.f) {
		for _, u := range g.Uses {
			if u.Invoke.F != history.FWork {
				continue
			}
			word, text := "does the job", "Nobody has done it yet."
			if i > 0 {
				word, text = "again", "Two clients are at it."
			}
			if before != nil && slices.ContainsFunc(before.Releases, func(c *history.Call) bool { return c.End() <= g.From() }) {
				text = before.Client + " has given the lock back, and nothing tells " + g.Client + " that the job is done."
			}
			b.add(Step{At: u.Start(), Events: eventsOf(u), Bad: i > 0}, word, g.Client+" does the job", text)
		}
		before = g
	}
	return b.inOrder()
}

// attempts are the beats of clients that replaced the same value, where no lock is in play.
func (b *beater) attempts(steps []Step) []stage.Beat {
	b.faults(steps)
	replaced := map[history.Opt]bool{}
	for _, g := range grantsOf(b.rec, b.f) {
		var write *history.Call
		for _, u := range g.Uses {
			if u.Invoke.F == history.FWrite && u.Outcome() == history.OK {
				write = u
			}
		}
		if write == nil {
			continue
		}
		v := write.Invoke.Value
		b.add(Step{At: g.From(), Events: eventsOf(g.Acquire)}, "reads", fmt.Sprintf("%s reads %d", g.Client, v.Base.Or(0)), "")
		title, text := fmt.Sprintf("%s replaces %d by %d", g.Client, v.Base.Or(0), v.New.Or(0)), "The store accepts it."
		if replaced[v.Base] {
			title, text = title+", too", "The store accepts it, although the value was replaced before: that update is lost."
		}
		b.add(Step{At: write.End(), Events: eventsOf(write), Bad: replaced[v.Base]}, "writes", title, text)
		replaced[v.Base] = true
	}
	return b.inOrder()
}

func (b *beater) faults(steps []Step) {
	for _, s := range steps {
		if s.Kind == StepFault {
			b.fault(s)
		}
	}
}

// inOrder returns the beats in order of time, no more than there is room for.
func (b *beater) inOrder() []stage.Beat {
	slices.SortStableFunc(b.out, func(x, y stage.Beat) int { return cmp.Compare(x.At, y.At) })
	return b.out[:min(len(b.out), maxBeats)]
}
