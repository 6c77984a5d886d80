package reports

import (
	"fmt"
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// density is a run by stretches of equal length: how many events each has, and how many were inside a lock at once at most.
type density struct {
	Bins   int     `json:"n"`
	Events []int   `json:"e"`
	Locks  [][]int `json:"l"` // per lock and stretch
}

const (
	bins = 2000
	// maxNear is how many events around incidents a page of a longer run has.
	maxNear = 36_000
	// besides is how much of the time before and after a fault or a finding a page of a longer run has, in ns.
	besides = int64(2 * time.Millisecond)
)

func densityOf(in *facts.Facts, locks *places, end int64) *density {
	d := &density{Bins: bins, Events: make([]int, bins)}
	width := max(end/bins, 1)
	bin := func(t int64) int { return int(min(max(t, 0)/width, bins-1)) }
	for i := range in.Events {
		d.Events[bin(in.Events[i].Time)]++
	}
	for range locks.names {
		d.Locks = append(d.Locks, make([]int, bins))
	}
	for _, lock := range in.Locks {
		most := d.Locks[locks.of(lock)]
		for _, g := range in.ByOK(lock) {
			h := in.Hold(g)
			if h.Empty() {
				continue
			}
			for b := bin(h.From); b <= bin(h.To); b++ {
				most[b] = max(most[b], 1)
			}
		}
		for _, o := range in.Overlaps(lock) {
			for b := bin(o.Span.From); b <= bin(o.Span.To); b++ {
				most[b] = max(most[b], 2)
			}
		}
	}
	return d
}

// nearOf are the times whose events are in the page: all, or the windows of the incidents, what is around each fault and then
// around each finding, as far as there is room.
func nearOf(whole bool, rec *history.Record, all []*happening, found []listedFinding) []history.Interval {
	if whole {
		return []history.Interval{{From: 0, To: history.Forever}}
	}
	var want, out []history.Interval
	for _, h := range all {
		want = append(want, h.window)
	}
	around := func(from, to int64) {
		want = append(want, history.Interval{From: max(from-besides, 0), To: to + besides})
	}
	for _, in := range rec.Faults {
		around(in.Began(), in.Began())
		if end := in.Until(); end < history.Forever {
			around(end, end)
		}
	}
	for _, f := range found {
		around(f.Finding.From, f.Finding.To)
	}
	left := maxNear
	for _, w := range want {
		if n := countIn(rec, w); n <= left {
			left -= n
			out = append(out, w)
		}
	}
	return facts.Disjoint(out)
}

// absent says which events are not in the page, and how to print the first of them.
func absent(all, here int, near []history.Interval) string {
	gap := history.Interval{From: 0, To: history.Forever}
	for _, w := range near {
		if w.From > gap.From+1 {
			gap.To = w.From
			break
		}
		gap.From = w.To
	}
	text := fmt.Sprintf("The run has %d events. This page has %d of them one by one: those around incidents, faults and findings, "+
		"in this order, as far as there is room. Of the others it has only how many there were at each time. To print the first of "+
		"those: awk -F'[:,]' '$4 > %d", all, here, gap.From)
	if gap.To < history.Forever {
		text += fmt.Sprintf(" && $4 < %d", gap.To)
	}
	return text + "' history.jsonl"
}

func countIn(rec *history.Record, w history.Interval) int {
	at := func(t int64) int {
		return sort.Search(len(rec.Events), func(i int) bool { return rec.Events[i].Time >= t })
	}
	return at(w.To+1) - at(w.From)
}

// within reports whether a part of an interval is in one of several that are in order.
func within(near []history.Interval, from, to int64) bool {
	i := sort.Search(len(near), func(i int) bool { return near[i].To >= from })
	return i < len(near) && near[i].From <= to
}
