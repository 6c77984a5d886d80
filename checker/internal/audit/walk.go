package audit

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// walk goes through the events once, for all rules that look at each of them; what each rule finds is kept apart.
type walk struct {
	in                           question
	logs                         map[string]*log
	parties                      []*log // in the order of their first events
	runs, sequence, ends, events *audit
	last                         int64 // the time of the event before
	broken                       bool  // the sequence: everything after it would be reported, too
}

// log is what was seen of the log of a party.
type log struct {
	party string
	count int64 // of its events
	told  bool  // it has the run
	ended bool
}

func walked(in question) *walk {
	w := &walk{
		in: in, logs: map[string]*log{},
		runs: &audit{in: in}, sequence: &audit{in: in}, ends: &audit{in: in}, events: &audit{in: in},
	}
	first := judged(in.Run)
	var l *log
	for i := range in.Events {
		e := &in.Events[i]
		if l == nil || l.party != e.Party() {
			l = w.log(e.Party())
		}
		if e.F() == history.FRun {
			w.run(first, l, e)
		}
		if !w.broken {
			w.next(int64(i), l, e)
		}
		l.count++
		if i == len(in.Events)-1 && in.End != nil && (e.F() != history.FEnd || e.Party() != history.PartyController) {
			w.ends.add("after-end", fmt.Sprintf("event %d comes after the end event of the history, but the end event must be the last "+
				"event", e.Index), e)
		}
		if e.F() == history.FEnd {
			w.end(l, e)
		}
		w.events.event(e)
	}
	w.untold()
	if in.End != nil {
		w.counts()
	}
	return w
}

func (w *walk) log(party string) *log {
	l := w.logs[party]
	if l == nil {
		l = &log{party: party}
		w.logs[party] = l
		w.parties = append(w.parties, l)
	}
	return l
}

// run checks that a log agrees with the first one about the run.
func (w *walk) run(first history.Run, l *log, e *history.Event) {
	l.told = true
	var run history.Run
	if err := e.Value().Into(&run); err != nil {
		w.runs.add("run", fmt.Sprintf("the run event in the log of %s (event %d) cannot be read: %v", e.Party(), e.Index, err), e)
	} else if !reflect.DeepEqual(first, judged(run)) {
		w.runs.add("runs-differ", fmt.Sprintf("the run event in the log of %s (event %d) differs from the run event of the first log: "+
			"do not mix the logs of different runs", e.Party(), e.Index), e)
	}
}

// untold checks that each log has a run where logs do: a history may also be one log, with the controller's alone.
func (w *walk) untold() {
	without := slices.DeleteFunc(slices.Clone(w.parties), func(l *log) bool { return l.told })
	if c := w.logs[history.PartyController]; len(without) == len(w.parties)-1 && c != nil && c.told {
		return
	}
	for _, l := range without {
		w.runs.add("no-run", fmt.Sprintf("the log of %s does not contain the event f:run, which says to which run a log belongs, so "+
			"the log may belong to another run", l.party), nil)
	}
}

// next checks order and completeness: indexes and every party's numbers run from 0 without gaps, and time never runs
// backwards.
func (w *walk) next(i int64, l *log, e *history.Event) {
	a := w.sequence
	if e.Index != i {
		a.add("index", fmt.Sprintf("event %d is at position %d of the history: lines of the history were removed, duplicated or moved",
			e.Index, i), e)
		w.broken = true
		return
	}
	if e.Time < w.last {
		a.add("time", fmt.Sprintf("the time of event %d is %s earlier than the time of the previous event: the history must be in "+
			"order of time", e.Index, checker.Millis(w.last-e.Time)), e)
	}
	w.last = e.Time
	if e.Seq != l.count {
		a.add("seq", fmt.Sprintf("in the log of %s, an event has the sequence number %d instead of %d: events are missing or "+
			"duplicated", e.Party(), e.Seq, l.count), e)
		w.broken = true
		return
	}
	if l.ended {
		a.add("after-end", fmt.Sprintf("in the log of %s, event %d comes after the end event, but the end event must be the "+
			"last event", e.Party(), e.Index), e)
	}
	l.ended = e.F() == history.FEnd
}

// end checks that an end counts the events of its log.
func (w *walk) end(l *log, e *history.Event) {
	var end history.End
	if err := e.Value().Into(&end); err != nil || end.Events != l.count {
		w.ends.add("end", fmt.Sprintf("the end event in the log of %s counts %d events, but the log has %d events", e.Party(),
			end.Events, l.count), e)
	}
}

// counts checks that the end of the history counts the events of every log.
func (w *walk) counts() {
	parties := w.in.End.Parties
	for _, party := range slices.Sorted(maps.Keys(parties)) {
		var n, has int64 = parties[party], 0
		if l := w.logs[party]; l != nil {
			has = l.count
		}
		if has != n && !w.broken {
			w.sequence.add("count", fmt.Sprintf("according to the end event of the history, the log of %s has %s, but the history "+
				"contains %s of this log", party, checker.Count(n, "event"), checker.Count(has, "event")), nil)
		}
	}
	for _, l := range w.parties {
		if _, counted := parties[l.party]; !counted && l.party != history.PartyController {
			w.ends.add("uncounted", fmt.Sprintf("the end event of the history does not list the log of %s, although the history contains "+
				"events of this log", l.party), nil)
		}
	}
}
