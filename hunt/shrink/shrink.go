// Package shrink makes a small history of a large one that shows the same: it takes out
// clients, locks, faults, grants, calls and notices, one after the other, as long as the
// question that is asked of it is answered with yes.
//
//	history.History + keep -> Shrink -> history.History -> Text -> a fixture
package shrink

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Shrink takes out of a history what is not needed for keep. Events of the kept grants, and
// faults with the kept ids, stay. The history that comes back is as ParseText reads it.
func Shrink(h *history.History, grants []string, faults []int, keep func(*history.History) bool) *history.History {
	best := h
	for changed := true; changed; {
		changed = false
		for _, unit := range units {
			for _, name := range names(best, unit) {
				next := without(best, unit, name, grants, faults)
				if next != nil && keep(next) {
					best, changed = next, true
				}
			}
		}
	}
	return best
}

// unit names what an event belongs to; empty: to nothing of that kind.
type unit func(calls map[int]int, i int, e *history.Event) string

var units = []unit{
	func(_ map[int]int, _ int, e *history.Event) string { return e.Client },
	func(_ map[int]int, _ int, e *history.Event) string { return e.Lock },
	func(_ map[int]int, _ int, e *history.Event) string { return fault(e) },
	func(_ map[int]int, _ int, e *history.Event) string { return e.Grant },
	func(calls map[int]int, i int, _ *history.Event) string {
		if k, ok := calls[i]; ok {
			return fmt.Sprint(k)
		}
		return ""
	},
	func(_ map[int]int, i int, e *history.Event) string {
		if e.Process.IsOp() || e.F == history.FRun || e.F == history.FEnd || e.F == history.FFault || e.F == history.FHeal {
			return ""
		}
		return fmt.Sprint(i)
	},
}

func fault(e *history.Event) string {
	var f history.Fault
	if (e.F != history.FFault && e.F != history.FHeal) || json.Unmarshal(e.Value.JSON, &f) != nil {
		return ""
	}
	return fmt.Sprint(f.ID)
}

// calls gives the events of each operation the number of its invocation.
func calls(h *history.History) map[int]int {
	out, open := map[int]int{}, map[int64]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if !e.Process.IsOp() {
			continue
		}
		if e.Type == history.Invoke {
			open[e.Process.N] = i
		}
		if k, ok := open[e.Process.N]; ok {
			out[i] = k
		}
	}
	return out
}

func names(h *history.History, u unit) []string {
	var out []string
	k := calls(h)
	seen := map[string]bool{}
	for i := range h.Events {
		if n := u(k, i, &h.Events[i]); n != "" && !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	slices.Reverse(out) // the later it is, the less needs it
	return out
}

// without is the history without all that belongs to a name; nil where that would take what
// has to stay, or where there is nothing to take.
func without(h *history.History, u unit, name string, grants []string, faults []int) *history.History {
	k := calls(h)
	out := &history.History{Sources: h.Sources}
	for i := range h.Events {
		e := &h.Events[i]
		if u(k, i, e) != name {
			out.Events = append(out.Events, *e)
			continue
		}
		kept := slices.ContainsFunc(faults, func(id int) bool { return fault(e) == fmt.Sprint(id) })
		if kept || slices.Contains(grants, e.Grant) {
			return nil
		}
	}
	if len(out.Events) == len(h.Events) {
		return nil
	}
	return Closed(out)
}

// Closed numbers the events again and ends every log as it should be.
func Closed(h *history.History) *history.History {
	next := map[string]int64{}
	for i := range h.Events {
		e := &h.Events[i]
		e.Index, e.Seq = int64(i), next[e.Party]
		next[e.Party]++
	}
	for i := range h.Events {
		e := &h.Events[i]
		if e.F != history.FEnd {
			continue
		}
		end := history.End{Events: next[e.Party]}
		if e.Party == history.PartyController {
			end.Parties = map[string]int64{}
			for party, n := range next {
				if party != e.Party {
					end.Parties[party] = n
				}
			}
		}
		e.Value = history.ValueOf(end)
	}
	return h
}
