package facts

import (
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// step is how far the wall clock has moved, all steps on record together, from a time on.
type step struct{ at, sum int64 }

// findSteps adds up the recorded steps of the wall clock, by which stores expire their keys.
func (in *Facts) findSteps() []step {
	var out []step
	sum := int64(0)
	for _, e := range in.Clocks {
		var s history.ClockStep
		if e.Value().Into(&s) == nil {
			sum += s.Step
			out = append(out, step{e.Time, sum})
		}
	}
	return out
}

// Drift returns how far the wall clock was off at most, against its reading at the beginning of a span.
func (in *Facts) Drift(span history.Interval) (most int64) {
	steps := in.Steps()
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
