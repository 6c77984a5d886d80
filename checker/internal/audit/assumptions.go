package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// assumptions judges the record, not the lock: an unsound record makes every other
// check unknown, so that a bug of the harness is never blamed on a backend.
func assumptions(in question) checker.Result {
	a := &audit{in: in}
	w := walked(in)
	for _, rules := range []func(){
		a.breaches, a.damage, a.run, a.take(w.runs), a.take(w.sequence), a.take(w.ends), a.parties, a.calls, a.take(w.events),
		a.afterInfo, a.grants, a.presented, a.renewals, a.faults, a.values, a.twoLogs, a.clock,
	} {
		rules()
	}
	r := checker.Result{
		Verdict: checker.Pass, Method: "search for contradictions and gaps in the events that the run recorded",
		Findings: append(a.findings, in.usedAfterRelease()...),
	}
	why := ""
	why, r.Figures = a.stalls() // what the host did is told of every record: it may be why one is unsound
	switch {
	case len(a.findings) > 0:
		r.Verdict, r.Code, r.Reason = checker.Unknown, checker.CodeUnsound, a.findings[0].Message
	case in.End == nil:
		r.Verdict, r.Code, r.Reason = checker.Unknown, checker.CodeNoEnd, "the history has no end event: the run was interrupted, or "+
			"the last part of the history is missing"
	default:
		r.Reason = why
	}
	return r
}

type audit struct {
	in       question
	findings []checker.Finding
}

func (a *audit) add(rule, message string, e *history.Event) {
	if len(a.findings) >= checker.MaxFindings {
		return
	}
	a.findings = append(a.findings, checker.OfRecord(rule, message, e))
}

// take adds what other rules have found.
func (a *audit) take(of *audit) func() {
	return func() {
		a.findings = append(a.findings, of.findings[:min(len(of.findings), checker.MaxFindings-len(a.findings))]...)
	}
}

// breaches tells of clients whose lock was not driven as the protocol says: what they say of it is worth nothing.
func (a *audit) breaches() {
	for _, e := range a.in.Breaches {
		a.add(checker.RuleBreach, e.Client()+": "+e.Message(), e)
	}
}

func (a *audit) damage() {
	for _, d := range a.in.Raw.Damage {
		a.add("damaged", d.String(), nil)
	}
	if e := &a.in.Events[0]; e.F() != history.FRun {
		a.add("no-run", fmt.Sprintf("the first event of the history is %q, not \"run\": the beginning of the history is missing",
			e.F()),
			e)
	}
}

// calls checks that every process is sequential and keeps to one party.
func (a *audit) calls() {
	for _, e := range a.in.Twice {
		a.add("overlap", fmt.Sprintf("process %v starts an operation (event %d) before its previous operation has ended", e.Process(),
			e.Index), e)
	}
	for _, e := range a.in.Mixed {
		a.add("grant", fmt.Sprintf("event %d uses the grant id %s, but this id already belongs to another acquire, lock or client: "+
			"give each acquire a new id", e.Index, e.Grant()), e)
	}
	for _, e := range a.in.Unpaired {
		a.add("orphan", fmt.Sprintf("event %d ends an operation, but the history does not contain the event that starts this operation",
			e.Index), e)
	}
	party := map[int64]string{}
	for _, c := range a.in.Calls {
		e := c.Invoke
		if !operation(e.F()) {
			a.add("function", fmt.Sprintf("event %d has the unknown operation %q", e.Index, e.F()), e)
		}
		if e.Client() != e.Party() {
			a.add("party", fmt.Sprintf("event %d belongs to the client %q, but is in the log of %q", e.Index, e.Client(), e.Party()), e)
		}
		p, known := party[e.Process().N]
		if known && p != e.Party() {
			a.add("process", fmt.Sprintf("process number %v is used by both %s and %s, but must belong to only one of them", e.Process(),
				p, e.Party()), e)
		}
		if p != e.Party() || !known {
			party[e.Process().N] = e.Party()
		}
	}
}

// operation reports whether a function is one that a numbered process may perform.
func operation(f string) bool {
	switch f {
	case history.FAcquire, history.FTryAcquire, history.FRenew, history.FRelease, history.FRead, history.FWrite, history.FWork:
		return true
	}
	return false
}

// parties checks that every log that is not complete has a reason: its client was killed.
func (a *audit) parties() {
	if a.in.End == nil {
		return
	}
	for _, party := range slices.Sorted(maps.Keys(a.in.End.Parties)) {
		if _, killed := a.in.Kills[party]; !killed && !a.in.Finished[party] {
			a.add(checker.RuleDied, fmt.Sprintf("the log of %[1]s has no end event, although no fault killed %[1]s", party), nil)
		}
	}
}

// usedAfterRelease tells of clients that acted as the holder after the store had answered the
// release of their grant. They are wrong, not the lock, and not the record.
func (in question) usedAfterRelease() []checker.Finding {
	var out []checker.Finding
	for _, g := range in.Grants {
		for _, u := range g.Uses {
			if !g.AfterRelease(u) || len(out) >= checker.MaxFindings {
				continue
			}
			out = append(out, checker.Finding{
				Rule: "used-after-release", Class: checker.NoClass, Cause: "the client, not the lock, made the error",
				CauseKind: checker.CauseNone, Events: []int64{u.Invoke.Index}, Grants: []string{g.ID},
				From: u.Start(), To: u.Start(),
				Message: fmt.Sprintf("%s used grant %s for a %s at %s, after the store had already answered the release of this grant",
					g.Client, g.ID, u.Invoke.F(), checker.Seconds(u.Start())),
			})
		}
	}
	return out
}

// clock checks that nobody set the wall clock, by which stores expire their keys.
func (a *audit) clock() {
	for _, e := range a.in.Clocks {
		var step history.ClockStep
		if e.Value().Into(&step) != nil {
			continue
		}
		if max(step.Step, -step.Step) > a.in.Run.Tolerance {
			a.add(checker.RuleClockStep, fmt.Sprintf("the host's wall clock jumped by %s at %s, so the store may have ended leases too "+
				"early or too late", checker.Millis(step.Step), checker.Seconds(e.Time)), e)
		}
	}
}

// stalls tells of hiccups of the host that no fault explains. They do not make the
// record unsound: what they explain is judged where it matters.
func (a *audit) stalls() (string, checker.Figures) {
	n := len(a.in.Unplanned)
	var longest int64
	for _, s := range a.in.Unplanned {
		longest = max(longest, s.To-s.From)
	}
	figures := checker.Figures{}
	if busy := a.in.HeldUp(history.Interval{To: history.Forever}, a.in.Busy(0)); busy > 0 {
		figures["host_busy_ns"] = busy
	}
	if n == 0 {
		return "", figures
	}
	figures["unplanned_stalls"], figures["unplanned_stall_max_ns"] = int64(n), longest
	return fmt.Sprintf("%s (max %s)", checker.Count(n, "unplanned host stall"), checker.Millis(longest)), figures
}
