package coverage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// coverage asks whether the faults hit anything: for each fault asked for, at least one
// injection must have proven its effect while a client that it can harm held, waited
// or was releasing. A run whose faults hit nobody has shown nothing.
func coverage(in question) checker.Result {
	if _, ok := in.Phases[history.PhaseWork]; ok && !in.grantedInWork() {
		return checker.Undecided(checker.CodeNotHit, "no client got a lock while the workload ran")
	}
	if len(in.Run.RequestedFaults) == 0 {
		if asked := slices.DeleteFunc(slices.Clone(in.Run.Nemesis), func(n string) bool { return n == "none" }); len(asked) > 0 {
			return checker.Undecided(checker.CodeNotHit, fmt.Sprintf("the run requested faults (%s), but the record does not show "+
				"whether a fault took effect", strings.Join(asked, ", ")))
		}
		return checker.Result{Verdict: checker.Pass, Reason: "no faults were requested"}
	}
	var missing, notes []string
	busy := in.busySpans()
	onHolder := int64(0)
	for i, q := range in.Run.RequestedFaults {
		if q.Skipped != "" {
			notes = append(notes, fmt.Sprintf("the fault %s was skipped: %s", q.Spec, q.Skipped))
			continue
		}
		c := in.count(i, busy)
		onHolder += c.onHolder
		if c.hits == 0 {
			missing = append(missing, q.Spec+": "+c.missed())
		} else {
			notes = append(notes, leftOut(q)...)
			notes = append(notes, fmt.Sprintf("%s: %s; clients made %s while faults were active", q.Spec,
				hitOf(c.hits, c.effective)+doings(c.ofClients), checker.Count(c.attempts, "lock attempt")))
		}
	}
	r := checker.Result{Verdict: checker.Pass, Method: "comparison of the time of each fault with the times at which clients " +
		"waited for, held and released locks", Reason: strings.Join(notes, "; ")}
	r.Figures = checker.Figures{"faults_on_holder": onHolder}
	if !slices.ContainsFunc(in.Run.RequestedFaults, func(q history.RequestedFault) bool { return q.Skipped == "" }) {
		missing = append(missing, "every requested fault was skipped: "+strings.Join(notes, "; "))
	}
	if len(missing) > 0 {
		r.Verdict, r.Code, r.Reason = checker.Unknown, checker.CodeNotHit, strings.Join(missing, "; ")
	}
	return r
}

// struck counts what the injections of one requested fault did.
type struck struct {
	hits, effective, attempts int
	short, vain               int // took effect for less than planned; on nothing
	onHolder                  int64
	ofClients                 map[doing]int
	why                       string // the first of those that did not take effect says so
}

// count counts the injections of a requested fault, by its place.
func (in question) count(request int, busy map[string][]workSpan) struck {
	c := struck{ofClients: map[doing]int{}}
	for _, f := range in.Faults {
		if f.Request != request {
			continue
		}
		if !f.Effective() || f.Proof == "" { // without a proof nobody knows that it did anything
			c.why = cmp.Or(c.why, cmp.Or(f.Effect, f.Invoke).Message())
			continue
		}
		c.effective++
		switch {
		case f.CutShort():
			c.short++
			continue
		case f.Vain:
			c.vain++
			continue
		}
		c.attempts += in.attempts(f.Span())
		if len(f.Clients) == 0 && !slices.ContainsFunc(in.Grants, f.OfServersOf) {
			continue // it struck servers that gave no grant of the run
		}
		did := harmed(f, in.struck(f), busy)
		if did > idle {
			c.hits++
		}
		if did == holds {
			c.onHolder++
		}
		if f.Family == history.FamilyClient {
			c.ofClients[did]++
		}
	}
	return c
}

// grantedInWork reports whether anybody was granted a lock in the work phase.
func (in question) grantedInWork() bool {
	work := in.Working()
	return slices.ContainsFunc(in.Grants, func(g *history.Grant) bool {
		return g.Granted() && g.From() >= work.From && g.From() < work.To
	})
}

// missed says that no fault that took effect hit an active client.
func (c struck) missed() string {
	switch c.effective {
	case 0:
		return strings.TrimSuffix("no fault took effect: "+c.why, ": ")
	case c.vain:
		return checker.Count(c.vain, "fault") + " struck, but there was nothing unsynced to lose"
	}
	text := checker.Count(c.effective, "fault") + " took effect, but no fault hit a client that waited for, held or " +
		"released the lock"
	if c.short > 0 {
		text += fmt.Sprintf(" (%d of these faults ended earlier than planned)", c.short)
	}
	return text
}

// hitOf says how many of the faults that took effect hit an active client.
func hitOf(hits, effective int) string {
	if hits == effective {
		switch hits {
		case 1:
			return "the fault hit an active client"
		case 2:
			return "both faults hit an active client"
		}
		return fmt.Sprintf("all %d faults hit an active client", hits)
	}
	return fmt.Sprintf("%d of %d faults hit an active client", hits, effective)
}

// doings says what clients did when faults hit them; empty where no fault was of clients.
func doings(n map[doing]int) string {
	var did []string
	for _, d := range []struct {
		doing
		text string
	}{{holds, "held the lock"}, {waits, "waited for the lock"}, {releases, "released the lock"}} {
		if n[d.doing] > 0 {
			did = append(did, fmt.Sprintf("%d %s", n[d.doing], d.text))
		}
	}
	if len(did) == 0 {
		return ""
	}
	return " (" + strings.Join(did, ", ") + ")"
}

// leftOut says what a request that draws from all faults did not draw, and why: faults with
// the same reason together.
func leftOut(q history.RequestedFault) []string {
	byReason := map[string][]string{}
	for name, why := range q.Without {
		byReason[why] = append(byReason[why], name)
	}
	var out []string
	for why, names := range byReason {
		slices.Sort(names)
		out = append(out, fmt.Sprintf("the fault %s, which injects other faults at random, cannot inject %s in this run: %s", q.Spec,
			strings.Join(names, ", "), why))
	}
	slices.Sort(out)
	return out
}

// doing is what a client does; of several, the last counts most.
type doing int

const (
	idle doing = iota
	releases
	waits
	holds
)

// workSpan is when a client was at work, and what it did then.
type workSpan struct {
	history.Interval
	doing
}

// busySpans are, for each client, the times in which it waited, held or was releasing.
func (in question) busySpans() map[string][]workSpan {
	spans := map[string][]workSpan{}
	for _, g := range in.Grants {
		if g.Acquire == nil {
			continue
		}
		end := in.CallEnd(g.Acquire)
		spans[g.Client] = append(spans[g.Client], workSpan{history.Interval{From: g.Acquire.Start(), To: end + 1}, waits})
		if h := in.Hold(g); !h.Empty() {
			spans[g.Client] = append(spans[g.Client], workSpan{h, holds})
		}
		for _, rel := range g.Releases {
			end := in.CallEnd(rel)
			spans[g.Client] = append(spans[g.Client], workSpan{history.Interval{From: rel.Start(), To: end + 1}, releases})
		}
	}
	return spans
}

// attempts counts the acquires that were open at some time of a span.
func (in question) attempts(span history.Interval) int {
	n := 0
	for _, g := range in.Grants {
		if g.Acquire != nil && g.Acquire.Start() < span.To && in.CallEnd(g.Acquire) >= span.From {
			n++
		}
	}
	return n
}

// struck is when a fault certainly hurt: from its beginning, where that is on record, else from its proof, to its
// end. A fault that kills hurts at the kill, and one with nothing to heal at some time between its injection
// and its proof.
//
//	injected |----------| proven ---------| healed
//	                    |<---- struck --->|
func (in question) struck(f *history.Injection) history.Interval {
	span := f.Span()
	killed := int64(history.Forever)
	for _, client := range f.Clients {
		if kill, dead := in.Kills[client]; dead && kill >= span.From && kill <= f.Effect.Time {
			killed = min(killed, kill)
		}
	}
	switch {
	case killed < history.Forever:
		span.From = killed - 1 // the victim's hold ends with it
	case f.Fault.Began > 0: // it is on record when it struck
	case f.Until() > f.Effect.Time:
		span.From = f.Effect.Time
	}
	return span
}

// harmed is what a client that the fault can harm did while it struck; idle: none was at work.
func harmed(f *history.Injection, struck history.Interval, busy map[string][]workSpan) (did doing) {
	for client, spans := range busy {
		if !f.Hurts(client) {
			continue
		}
		for _, s := range spans {
			if !s.Overlap(struck).Empty() {
				did = max(did, s.doing)
			}
		}
	}
	return did
}
