package reports

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

const (
	maxEvents  = 300  // events that a page shows as they are on record
	maxBacks   = 4    // links from an event to what names it
	maxLine    = 2000 // bytes of an event
	maxPerItem = 12   // events that one finding names on the page
)

// eventRow is an event of the record as it is, and who names it.
type eventRow struct {
	Index int64
	At    int64
	Line  string
	Backs []backLink
}

// backLink leads from an event to the place that names it.
type backLink struct{ ID, Text string }

// eventRef is an event that is named; its line may not be on the page.
type eventRef struct {
	Index int64
	Shown bool
}

// evidence is the events that steps and findings name, the first named first.
type evidence struct {
	order []int64
	backs map[int64][]backLink
	Rows  []eventRow // events with a line, in order
	shown map[int64]bool
	Left  int // how many have no line

	incidents map[string]int // of each finding, by its id in the page
}

// evidenceOf gathers the events of incidents that are told and of all findings, those of the worst first,
// and as many of their lines as a page can hold.
func evidenceOf(r *checker.Results, rec *history.Record, told []*happening, w *Survived) *evidence {
	e := &evidence{backs: map[int64][]backLink{}, shown: map[int64]bool{}}
	for i, h := range told {
		e.steps(fmt.Sprintf("s%d", i), h.steps)
	}
	if w != nil {
		e.steps("w", w.Steps)
	}
	listed := map[string][]int{}
	for _, name := range r.Order {
		listed[name] = worstOf(r.Checks[name].Findings)
	}
	for n := range maxFindings {
		for _, name := range r.Order {
			if n >= len(listed[name]) {
				continue
			}
			i := listed[name][n]
			e.name(backLink{findingID(name, i), fmt.Sprintf("%s %d", name, i+1)}, r.Checks[name].Findings[i].Events...)
		}
	}
	e.find(rec)
	return e
}

func findingID(check string, i int) string { return fmt.Sprintf("f-%s-%d", check, i) }

func stepID(story string, i int) string { return fmt.Sprintf("%s-%d", story, i) }

func (e *evidence) steps(story string, steps []Step) {
	for i, step := range steps[:min(len(steps), maxSteps)] {
		e.name(backLink{stepID(story, i), "story, " + moment(step.At)}, step.Events[:min(len(step.Events), 1)]...)
	}
}

// name notes that events are named somewhere.
func (e *evidence) name(by backLink, events ...int64) {
	for _, i := range events[:min(len(events), maxPerItem)] {
		old, known := e.backs[i]
		if !known {
			e.order = append(e.order, i)
		}
		if len(old) < maxBacks && !slices.Contains(old, by) {
			e.backs[i] = append(old, by)
		}
	}
}

// find looks the events up; those that the record lacks are not shown.
func (e *evidence) find(rec *history.Record) {
	lines := map[int64]*history.Event{}
	for i := range rec.Events {
		ev := &rec.Events[i]
		if _, wanted := e.backs[ev.Index]; wanted && lines[ev.Index] == nil {
			lines[ev.Index] = ev
		}
	}
	for _, i := range e.order {
		switch ev := lines[i]; {
		case ev == nil:
		case len(e.Rows) == maxEvents:
			e.Left++
		default:
			e.shown[i] = true
			line := cut(string(ev.AppendJSON(nil, true)), maxLine)
			e.Rows = append(e.Rows, eventRow{Index: i, At: ev.Time, Line: line, Backs: e.backs[i]})
		}
	}
	slices.SortFunc(e.Rows, func(a, b eventRow) int { return int(a.Index - b.Index) })
}

// refs are the events that something names, and how many more it names.
func (e *evidence) refs(events []int64) (refs []eventRef, more int) {
	for _, i := range events[:min(len(events), maxPerItem)] {
		refs = append(refs, eventRef{i, e.shown[i]})
	}
	return refs, len(events) - len(refs)
}
