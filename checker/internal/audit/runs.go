package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// longest is more than any length of a run may be, in ns.
const longest = int64(7 * 24 * time.Hour)

// run checks what the run says of itself, and that every party was told the same.
func (a *audit) run() {
	run := a.in.Run
	for _, w := range []struct {
		field, value string
		valid        []string
	}{
		{"ends", run.Ends, []string{
			history.EndsNever, history.EndsLease, history.EndsProcess, history.EndsSession,
			history.EndsConnection,
		}},
		{"fail_on", run.FailOn, []string{"", history.FailOnDefect}},
		{"discipline", run.Discipline, []string{history.Obey, history.Trusting, history.Told}},
		{"fencing", run.Fencing, []string{history.FencingBoth, history.FencingOn, history.FencingOff}},
	} {
		if !slices.Contains(w.valid, w.value) {
			a.add("run", fmt.Sprintf("the field %s of the run event has the unknown value %q: choose one of %v", w.field, w.value,
				w.valid), nil)
		}
	}
	if kind := run.Model.Kind; !run.Model.Known() {
		a.add("model", fmt.Sprintf("the run event has the unknown lock model %q: choose a kind of lock from docs/semantics.md "+
			"(section Models)", kind), nil)
	}
	least := int64(1)
	if a.in.Leased() {
		least = run.TTL // nothing comes back sooner than its lease ends
	}
	for _, n := range []struct {
		field         string
		value, lo, hi int64
	}{
		{"ttl", run.TTL, 1, longest},
		{"tolerance", run.Tolerance, 0, max(run.TTL, 0) / 2},
		{"stall limit", run.StallLimit, 0, longest},
		{"recovery", run.Recovery, 0, longest},
		{"duration", run.Duration, 0, longest},
		{"liveness bound", run.LivenessBound, least, longest},
	} {
		if n.value < n.lo || n.value > n.hi {
			a.add("run", fmt.Sprintf("the %s in the run event is %s, but must be between %s and %s", n.field, checker.Millis(n.value),
				checker.Millis(n.lo), checker.Millis(n.hi)), nil)
		}
	}
}

// judged is what judging needs of a run; the rest is for people.
func judged(run history.Run) history.Run {
	run.Provider, run.Started, run.Versions, run.Command = "", time.Time{}, nil, ""
	return run
}
