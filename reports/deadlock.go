package reports

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// ruleDeadlocked is the rule of two clients that wait for each other for good.
const ruleDeadlocked = "deadlocked"

// once are results without the mutual waits that the check liveness reports as a deadlock.
func once(r *checker.Results) *checker.Results {
	c := r.Checks[checker.Deadlock]
	left := slices.DeleteFunc(slices.Clone(c.Findings), func(f checker.Finding) bool {
		return slices.ContainsFunc(r.Checks[checker.Liveness].Findings, func(g checker.Finding) bool {
			return g.Rule == ruleDeadlocked && checker.SharedGrants(&f, &g) == 2
		})
	})
	if len(left) == len(c.Findings) {
		return r
	}
	out := *r
	out.Checks = maps.Clone(r.Checks)
	c.Findings, c.Quiet = left, len(left) == 0
	out.Checks[checker.Deadlock] = c
	return &out
}

// waitsOf are the two requests that wait in a deadlock; none: it is no deadlock.
func waitsOf(rec *history.Record, f *checker.Finding) []*history.Grant {
	if f.Rule != ruleDeadlocked {
		return nil
	}
	return slices.DeleteFunc(grantsOf(rec, f), func(g *history.Grant) bool { return g.Acquire == nil })
}

// sinceWhen is when something began: a deadlock began with the second wait, and not with the search for it.
func sinceWhen(rec *history.Record, f *checker.Finding) int64 {
	from := f.From
	for i, g := range waitsOf(rec, f) {
		if from = max(from, g.Acquire.Start()); i == 0 {
			from = g.Acquire.Start()
		}
	}
	return from
}

func deadlockSentence(rec *history.Record, f *checker.Finding) string {
	each := "each wait for the other's lock"
	if waits := waitsOf(rec, f); len(waits) == 2 && waits[0].Lock == waits[1].Lock {
		each = "are readers, and each waits for the other to leave"
	}
	return fmt.Sprintf("Deadlock: %s %s (%s, still waiting).", listed(clientsOf(rec, f), 2), each, span(f.To-sinceWhen(rec, f)))
}

// deadlockSteps tell how it came about: what each client holds, and since when it waits for what the other holds.
func deadlockSteps(f *checker.Finding, rec *history.Record) (out []Step) {
	waits := waitsOf(rec, f)
	for i, w := range waits {
		var held *history.Grant
		for _, g := range rec.Grants {
			if g.Client == w.Client && g.Granted() && g.Lock == waits[len(waits)-1-i].Lock && g.From() <= w.Acquire.Start() {
				held = g
			}
		}
		if held != nil {
			out = append(out, granted(held))
		}
		text := fmt.Sprintf("%s asks for lock %s (grant %s), and waits until the end.", w.Client, w.Lock, w.ID)
		ask := w.Acquire
		closes := ask.Start() == sinceWhen(rec, f) // the ring; a wait alone is no damage
		out = append(out, Step{At: ask.Start(), Party: w.Client, Kind: StepWaits, Events: eventsOf(ask), Text: text, Bad: closes})
	}
	return out
}
