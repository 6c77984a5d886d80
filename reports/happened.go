package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

// happening is one thing that happened, with all findings about it, however many checks saw it. Its first
// finding is the one that ranks first.
type happening struct {
	found  []listedFinding
	window history.Interval // what a picture of it shows
	steps  []Step
	kinds  string // what led to it and what came of it, where it has several findings
}

// listedFinding is a finding and its place in the list of its check.
type listedFinding struct {
	checker.Found
	at int
}

// maxHappenings is how many incidents a page lists; how many there were in all is said by the totals.
const maxHappenings = 200

func (h *happening) first() *checker.Finding { return &h.found[0].Finding }

// happened groups the findings of all checks that failed, or cannot say whether, by what happened: those that have the fault of
// the first of a group as their cause, that share two grants with it, or are the core of it. In the order of findings.
func happened(r *checker.Results, rec *history.Record) (out []*happening, more int) {
	byGrant, byFault := map[string][]*happening{}, map[int]*happening{}
	for _, f := range foundIn(r) {
		h := home(byGrant, f)
		if fault := f.Finding.Fault; h == nil && fault > 0 && f.Finding.CauseKind == checker.CauseFault {
			h = byFault[fault]
		}
		if h != nil {
			h.found = append(h.found, f)
			continue
		}
		h = &happening{found: []listedFinding{f}}
		if f.Finding.CauseKind == checker.CauseFault && f.Finding.Fault > 0 {
			byFault[f.Finding.Fault] = h
		}
		for _, id := range f.Finding.Grants {
			byGrant[id] = append(byGrant[id], h)
		}
		out = append(out, h)
	}
	if more = max(len(out)-maxHappenings, 0); more > 0 {
		out = out[:maxHappenings]
	}
	end := endOf(rec)
	for _, h := range out {
		h.steps = steps(h.first(), r, rec)
		h.window, h.kinds = windowOf(h, rec, end), kindsOf(h, rec)
	}
	return out, more
}

// mistakes are causes other than a fault, as a heading names them.
var mistakes = map[checker.CauseKind]string{
	checker.CauseStall: "host stall", checker.CauseClock: "clock change", checker.CauseOverrun: "lease overrun",
	checker.CauseRelease: "wrong release", checker.CauseRenewal: "short renewal",
}

// kindsOf counts what led to an incident and what came of it, where it has several findings: "1 client-pause: 7 overlaps, 1 lost
// update".
func kindsOf(h *happening, rec *history.Record) string {
	if len(h.found) < 2 {
		return ""
	}
	led := rec.Injected(h.first().Fault)
	var rules []string
	count, faults := map[string]int{}, map[int]bool{}
	for _, f := range h.found {
		rule := strings.ReplaceAll(f.Finding.Rule, "-", " ")
		rules, count[rule] = lists.With(rules, rule), count[rule]+1
		if in := rec.Injected(f.Finding.Fault); in != nil && led != nil && in.Fault.Fault == led.Fault.Fault {
			faults[in.ID] = true
		}
	}
	head := cmp.Or(mistakes[h.first().CauseKind], "no fault")
	if led != nil {
		head = checker.Count(len(faults), led.Fault.Fault)
	}
	for i, rule := range rules {
		rules[i] = checker.Count(count[rule], rule)
	}
	return capital(head + ": " + strings.Join(rules, ", "))
}

// toldAs says why the first finding of an incident is told: it ranks first, among equals by what was lost, then by its length.
func toldAs(h *happening) string {
	first, costliest, longest := h.first(), h.first().Lost > 0, true
	for _, f := range h.found[1:] {
		costliest = costliest && f.Finding.Lost <= first.Lost
		longest = longest && f.Finding.To-f.Finding.From <= first.To-first.From
	}
	switch {
	case costliest:
		return "the costliest"
	case longest:
		return "the longest"
	}
	return "the gravest"
}

// foundIn are the findings that a reader may ask about, the one to tell first first.
func foundIn(r *checker.Results) (out []listedFinding) {
	for _, name := range telling(r) {
		c := r.Checks[name]
		if c.Verdict == checker.Skipped {
			continue
		}
		for i, f := range c.Findings {
			out = append(out, listedFinding{checker.Found{Check: name, Finding: f}, i})
		}
	}
	// Required checks first: what they found is what the verdict is about.
	slices.SortStableFunc(out, func(a, b listedFinding) int {
		if x, y := fails(r, a), fails(r, b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return checker.RankFound(a.Found, b.Found)
	})
	return out
}

func fails(r *checker.Results, f listedFinding) bool {
	c := r.Checks[f.Check]
	return c.Required && c.Verdict == checker.Fail && f.Finding.Gating
}

// home is the incident that a finding belongs to.
func home(byGrant map[string][]*happening, f listedFinding) *happening {
	for _, id := range f.Finding.Grants {
		for _, h := range byGrant[id] {
			first := h.first()
			n := checker.SharedGrants(&f.Finding, first)
			if n >= 2 || (f.Check != h.found[0].Check && (isCore(h.found[0].Check, *first, n) || isCore(f.Check, f.Finding, n))) {
				return h
			}
		}
	}
	return nil
}

// windowOf is the time that explains an incident: from the request of its first grant to the last thing that
// its grants did, with some room at both sides.
func windowOf(h *happening, rec *history.Record, end int64) history.Interval {
	span := around(h.first(), rec)
	for _, s := range h.steps {
		if s.Kind == StepFault {
			span.From = min(span.From, s.At)
		}
	}
	room := max((span.To-span.From)/10, 2_000_000)
	return history.Interval{From: max(0, span.From-room), To: min(span.To+room, max(end, 1))}
}

// kept is until when the store kept a grant, as far as the record says, and whether nobody believed in it any
// more at the end of that: an orphan, which still shut others out.
func kept(in *facts.Facts, g *history.Grant, hold history.Interval, end int64) (until int64, orphan bool) {
	for _, rel := range g.Releases {
		if rel.Outcome() == history.OK || rel.NotHeld() {
			return hold.To, false
		}
	}
	over := g.DeadlineAt(history.Forever)
	unknown := in.Leased() && (!over.Set || over.V <= g.From())
	if in.Run.Ends == history.EndsProcess || in.Run.Ends == history.EndsConnection || unknown {
		return hold.To, false
	}
	until, _, _ = stage.Kept(in, g, nil)
	until = min(until, end)
	return max(until, hold.To), until > hold.To
}
