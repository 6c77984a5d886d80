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

// Stays is what is not taken out.
type Stays struct {
	Grants []string // all events of these
	Faults []int    // faults by id
	From   int64    // attempts at or after this moment; 0: no such moment
}

// Shrink takes out of a history what is not needed for keep, save for what stays.
func Shrink(h *history.History, stays Stays, keep func(*history.History) bool) *history.History {
	best := h
	for changed := true; changed; {
		changed = false
		for _, unit := range units {
			for _, name := range names(best, unit) {
				next := without(best, unit, name, stays)
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
	func(_ map[int]int, _ int, e *history.Event) string { return e.Client() },
	func(_ map[int]int, _ int, e *history.Event) string { return e.Lock() },
	func(_ map[int]int, _ int, e *history.Event) string { return fault(e) },
	func(_ map[int]int, _ int, e *history.Event) string { return e.Grant() },
	func(calls map[int]int, i int, _ *history.Event) string {
		if k, ok := calls[i]; ok {
			return fmt.Sprint(k)
		}
		return ""
	},
	func(_ map[int]int, i int, e *history.Event) string {
		if e.Process().IsOp() || e.Party() == history.PartyRegister || e.F() == history.FRun || e.F() == history.FEnd ||
			e.F() == history.FFault || e.F() == history.FHeal {
			return ""
		}
		return fmt.Sprint(i)
	},
}

func fault(e *history.Event) string {
	var f history.Fault
	if (e.F() != history.FFault && e.F() != history.FHeal) || json.Unmarshal(e.Value().JSON, &f) != nil {
		return ""
	}
	return fmt.Sprint(f.ID)
}

// calls gives the events of each operation the number of its invocation: its return, and what
// the register recorded of it. An acquire is none of its own where anything else is on record
// under its grant.
func calls(h *history.History) map[int]int {
	type use struct{ grant, register, f string }
	out, open, uses := map[int]int{}, map[int64]int{}, map[use]int{}
	perGrant := map[string]int{}
	for i := range h.Events {
		e := &h.Events[i]
		key := use{e.Grant(), e.Register(), e.F()}
		switch {
		case e.Party() == history.PartyRegister:
			if k, ok := uses[key]; ok {
				out[i] = k
			}
			continue
		case !e.Process().IsOp():
			continue
		case e.Type() == history.Invoke:
			open[e.Process().N], uses[key] = i, i
		}
		if k, ok := open[e.Process().N]; ok {
			out[i] = k
		}
		if e.F() != history.FAcquire && e.F() != history.FTryAcquire {
			perGrant[e.Grant()]++
		}
	}
	for i := range h.Events {
		if e := &h.Events[i]; perGrant[e.Grant()] > 0 && (e.F() == history.FAcquire || e.F() == history.FTryAcquire) {
			delete(out, i)
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
func without(h *history.History, u unit, name string, stays Stays) *history.History {
	k := calls(h)
	out := &history.History{Sources: h.Sources}
	for i := range h.Events {
		e := &h.Events[i]
		if u(k, i, e) != name {
			out.Events = append(out.Events, *e)
			continue
		}
		if stays.has(e) {
			return nil
		}
	}
	if len(out.Events) == len(h.Events) {
		return nil
	}
	return history.Counted(out)
}

func (s Stays) has(e *history.Event) bool {
	kept := slices.ContainsFunc(s.Faults, func(id int) bool { return fault(e) == fmt.Sprint(id) })
	late := s.From > 0 && e.Time >= s.From && (e.F() == history.FAcquire || e.F() == history.FTryAcquire)
	return kept || late || slices.Contains(s.Grants, e.Grant())
}
