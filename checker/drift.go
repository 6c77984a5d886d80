package checker

import (
	"fmt"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// step is how far the wall clock has moved, all steps on record together, from a time on.
type step struct{ at, sum int64 }

// findSteps adds up the recorded steps of the wall clock, by which stores expire their keys.
func (in *Input) findSteps() []step {
	var out []step
	sum := int64(0)
	for i := range in.Events {
		var s history.ClockStep
		if e := &in.Events[i]; e.F == history.FClock && e.Value.Into(&s) == nil {
			sum += s.Step
			out = append(out, step{e.Time, sum})
		}
	}
	return out
}

// drift is by how much the wall clock was off at most, against where it stood at the beginning
// of a span.
func (in *Input) drift(span history.Interval) (most int64) {
	steps := in.steps()
	i := sort.Search(len(steps), func(i int) bool { return steps[i].at >= span.From })
	base := int64(0)
	if i > 0 {
		base = steps[i-1].sum
	}
	for ; i < len(steps) && steps[i].at <= span.To; i++ {
		off := steps[i].sum - base
		most = max(most, off, -off)
	}
	return most
}

// conclude is Conclude for findings as they count in the run.
func (in *Input) conclude(method string, findings []Finding, total int) Result {
	for i := range findings {
		in.settle(&findings[i])
	}
	return Conclude(method, findings, total)
}

// settle makes a finding what it is in the run: what is inherent gates only where the run fails on it, and a
// defect that turns on a lease in whose life the wall clock moved by more than the tolerance is doubtful: the lease may have
// run out by the store's clock.
func (in *Input) settle(f *Finding) {
	f.Gating = f.Gating && (f.Class != Inherent || in.Run.FailOn != history.FailOnDefect)
	if !in.Leased() || len(in.steps()) == 0 || (f.Class != Defect && f.Class != Undetermined) {
		return
	}
	for _, id := range f.Grants {
		g := in.ByID[id]
		if g == nil || !g.Granted() {
			continue
		}
		if off := in.drift(history.Interval{From: g.Sent(), To: max(f.From, f.To)}); off > in.Run.Tolerance {
			f.Doubtful = true
			f.because(Cause{Kind: CauseClock, Text: fmt.Sprintf("the host's wall clock moved by %s in the life of %s", Millis(off), id)})
		}
	}
}
