package audit

import (
	"fmt"
	"reflect"
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
	a.runs()
}

// runs checks that the logs agree about the run, and that each has one where logs do: a
// history may also be one log, with the controller's alone.
func (a *audit) runs() {
	first := judged(a.in.Run)
	told := map[string]bool{}
	var parties []string
	seen := map[string]bool{}
	for i := range a.in.Events {
		e := &a.in.Events[i]
		if !seen[e.Party] {
			seen[e.Party] = true
			parties = append(parties, e.Party)
		}
		if e.F != history.FRun {
			continue
		}
		told[e.Party] = true
		var run history.Run
		if err := e.Value.Into(&run); err != nil {
			a.add("run", fmt.Sprintf("the run event in the log of %s (event %d) cannot be read: %v", e.Party, e.Index, err), e)
		} else if !reflect.DeepEqual(first, judged(run)) {
			a.add("runs-differ", fmt.Sprintf("the run event in the log of %s (event %d) differs from the run event of the first log: do "+
				"not mix the logs of different runs", e.Party, e.Index), e)
		}
	}
	if len(told) == 1 && told[history.PartyController] {
		return
	}
	for _, p := range parties {
		if !told[p] {
			a.add("no-run", fmt.Sprintf("the log of %s does not contain the event f:run, which says to which run a log belongs, so the "+
				"log may belong to another run", p), nil)
		}
	}
}

// judged is what judging needs of a run; the rest is for people.
func judged(run history.Run) history.Run {
	run.Provider, run.Started, run.Versions, run.Command = "", time.Time{}, nil, ""
	return run
}

// ends checks that every end counts the events of its log, and the controller's every log.
func (a *audit) ends() {
	count := map[string]*int64{}
	for i := range a.in.Events {
		e := &a.in.Events[i]
		n := count[e.Party]
		if n == nil {
			n = new(int64)
			count[e.Party] = n
		}
		*n++
		if last := a.in.End != nil && i == len(a.in.Events)-1; last && (e.F != history.FEnd || e.Party != history.PartyController) {
			a.add("after-end", fmt.Sprintf("event %d comes after the end event of the history, but the end event must be the last event",
				e.Index), e)
		}
		if e.F != history.FEnd {
			continue
		}
		var end history.End
		if err := e.Value.Into(&end); err != nil || end.Events != *n {
			a.add("end", fmt.Sprintf("the end event in the log of %s counts %d events, but the log has %d events", e.Party, end.Events,
				*n), e)
		}
	}
	if a.in.End == nil {
		return
	}
	for party := range count {
		if _, counted := a.in.End.Parties[party]; !counted && party != history.PartyController {
			a.add("uncounted", fmt.Sprintf("the end event of the history does not list the log of %s, although the history contains "+
				"events of this log", party), nil)
		}
	}
}
