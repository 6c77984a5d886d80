package liveness

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// liveness asks whether the lock comes back: when all is healed every client that lives
// does one last section per lock, and the lock must be granted within the bound. Earlier
// grants do not count: a lock may break after them. The bound is on record:
// longest lease + stated recovery of the topology + the queue of clients + 2 s.
//
// It fails where others wait and the lock comes back to nobody, or to nobody but who held it
// then. A client that starves while its equals are granted is a figure, and makes the answer
// unknown: most locks promise no order. What nobody tried is not known either.
func liveness(in question) checker.Result {
	figures := checker.Figures{}
	recoveries := in.recovery(figures)
	r := in.final(recoveries, figures)
	r.Figures = figures
	return r
}

// final judges the final sections.
func (in question) final(recoveries []checker.Recovery, figures checker.Figures) checker.Result {
	if in.End == nil {
		return checker.Undecided(checker.CodeNoEnd, "the run was interrupted before the recovery test (after all faults, each client "+
			"acquires each lock once more)")
	}
	from, ok := in.Phases[history.PhaseFinal]
	if !ok {
		return checker.Undecided(checker.CodeNoFinal, "the history does not contain the recovery test (after all faults, each client "+
			"acquires each lock once more)")
	}
	if healed := in.lastHeal(); healed > from {
		return checker.Undecided(checker.CodeStillHurt, "a fault was still active when the recovery test (each client acquires each "+
			"lock once more) began ("+checker.Seconds(from)+"), or the record does not show the end of a fault")
	}
	if why, never := in.neverGranted(); never {
		return checker.Undecided(checker.CodeNoGrant,
			"no client got a lock in the whole run, and no attempt was answered by the lock: "+why)
	}
	var findings []checker.Finding
	untried := ""
	for _, lock := range in.allLocks() {
		found, why := in.comesBack(lock, history.Interval{From: from, To: from + in.Run.LivenessBound}, figures)
		for _, f := range found {
			again := func(o checker.Finding) bool { return o.Rule == ruleDeadlocked && slices.Equal(o.Grants, f.Grants) }
			if f.Rule != ruleDeadlocked || !slices.ContainsFunc(findings, again) { // a deadlock keeps both locks
				findings = append(findings, f)
			}
		}
		untried = cmp.Or(untried, why)
	}
	r := checker.Conclude("search for clients that did not get a lock in the recovery test (after all faults, each client "+
		"acquires each lock once more)", findings, len(findings))
	switch {
	case r.Verdict == checker.Unknown && !slices.ContainsFunc(findings,
		func(f checker.Finding) bool { return f.Rule != ruleStarved }):
		r.Code, r.Reason = checker.CodeStarved, "some clients never got the lock, although other clients did: "+findings[0].Message
	case r.Verdict == checker.Pass && untried != "":
		r.Verdict, r.Code, r.Reason = checker.Unknown, checker.CodeUntried, untried
	}
	if r.Verdict == checker.Pass { // else the findings name who stands in the way
		r.Findings = append(r.Findings, in.orphans(figures)...)
		r.Reason = fmt.Sprintf("%s, every client acquired every lock within %s (limit: %s)", in.whenFinal(),
			checker.Seconds(in.slowest(from)), checker.Seconds(in.Run.LivenessBound))
	}
	if len(recoveries) > 0 {
		r.Proof = checker.NewProof(recoveries)
	}
	return r
}

// whenFinal says when the recovery test was made.
func (in question) whenFinal() string {
	if len(in.Faults)+len(in.Kills) == 0 {
		return "in the recovery test"
	}
	return "after the faults ended"
}

// test names the recovery test.
func (in question) test() string {
	if len(in.Faults)+len(in.Kills) == 0 {
		return "in the recovery test"
	}
	return "in the recovery test after the faults"
}

// neverGranted reports whether every attempt of the run failed in a way that says nothing of the lock, and quotes the
// first: what stands between clients and lock is broken then, from the start.
func (in question) neverGranted() (why string, never bool) {
	for _, g := range in.Grants {
		if g.Granted() || g.Acquire == nil || g.Acquire.Outcome() == history.Fail && g.Acquire.Return.Code() != history.ErrNotSent {
			return "", false
		}
		if g.Acquire.Return != nil {
			why = cmp.Or(why, g.Acquire.Return.Message())
		}
	}
	return why, why != ""
}

// allLocks are those that the run says and those that were used.
func (in question) allLocks() []string {
	out := slices.Clone(in.Run.Locks)
	for _, lock := range in.Locks {
		if lock != "" && !slices.Contains(out, lock) {
			out = append(out, lock)
		}
	}
	return out
}

// slowest is how long the slowest client waited for its first grant of a lock after a
// moment.
func (in question) slowest(from int64) int64 {
	type key struct{ client, lock string }
	first := map[key]int64{}
	for _, g := range in.Grants {
		if !g.Granted() || g.From() < from {
			continue
		}
		k := key{g.Client, g.Lock}
		if old, ok := first[k]; !ok || g.From() < old {
			first[k] = g.From()
		}
	}
	var worst int64
	for _, t := range first {
		worst = max(worst, t-from)
	}
	return worst
}

// lastHeal is the moment from which nothing hurts any more; Forever where nobody knows that.
func (in question) lastHeal() int64 {
	var last int64
	for _, f := range in.Faults {
		if f.Effective() {
			last = max(last, f.Until())
		}
	}
	for _, t := range in.Kills {
		last = max(last, t)
	}
	return last
}

// comesBack looks for a lock that was not granted again in the time that recovery may take, and
// says what nobody tried.
func (in question) comesBack(lock string, span history.Interval, figures checker.Figures) (findings []checker.Finding,
	untried string,
) {
	groups := in.askersOf(lock, span)
	any, hardly := map[string]bool{}, ""
	for _, a := range groups {
		if len(a.late) > 0 {
			hardly = " early enough (in the first half of the time limit)"
		}
		for client := range a.asked {
			any[client] = true
		}
		if len(a.asked) == 0 {
			untried = fmt.Sprintf(in.test()+", no client asked for lock %s in mode %q%s, although clients had used this mode before", lock,
				cmp.Or(a.mode, "exclusive"), hardly)
		}
		if f, bad := in.waitsInVain(lock, a, span, figures); bad {
			findings = append(findings, f)
		}
	}
	for _, client := range in.living() {
		if !any[client] {
			untried = fmt.Sprintf(in.test()+", %s did not ask for lock %s%s", client, lock, hardly)
		}
	}
	if len(any) == 0 {
		untried = fmt.Sprintf(in.test()+", no client asked for lock %s%s", lock, hardly)
	}
	return findings, untried
}

// living are the clients that nobody killed, those included whose log has nothing but its beginning and
// its end.
func (in question) living() []string {
	var out []string
	for _, client := range in.Clients() {
		if _, killed := in.Kills[client]; !killed {
			out = append(out, client)
		}
	}
	return out
}

// waitsInVain judges one mode of a lock.
func (in question) waitsInVain(lock string, a *askers, span history.Interval, figures checker.Figures) (checker.Finding, bool) {
	var stuck []string
	for client := range a.asked {
		if !a.back[client] {
			stuck = append(stuck, client)
		}
	}
	if len(stuck) == 0 {
		return checker.Finding{}, false
	}
	slices.Sort(stuck)
	f := checker.Finding{
		Rule: "no-recovery", Class: checker.NoClass, Gating: true, From: span.From, To: span.To, Events: []int64{},
		Cause: checker.NoCause.Text, CauseKind: checker.CauseNone,
		Message: fmt.Sprintf("%s (%s), %d of %d live clients (%s) did not acquire lock %s within %s",
			in.whenFinal(), checker.Seconds(span.From), len(stuck), len(in.living()), checker.Joined(stuck, nil), lock,
			checker.Millis(span.To-span.From)),
	}
	if others := in.passedAround(lock, a, span.From); others {
		f.Rule, f.Doubtful = ruleStarved, true
		f.Cause = "other clients acquired the lock in this time, so the lock itself still worked"
		figures["starved_clients"] += int64(len(stuck))
		return f, true
	}
	if g := in.heldThrough(lock, span); g != nil {
		if pair := in.LockedUp(g.Client, span); pair != nil {
			return deadlocked(f, pair), true
		}
		f.Doubtful = true
		f.Because(checker.Cause{Kind: checker.CauseRecord, Text: fmt.Sprintf("%s held the lock (grant %s) for nearly all of the time "+
			"that the clients had for recovery, and released the lock too late or never", g.Client, g.ID)})
		return f, true
	}
	suspects := in.suspect(lock, &f)
	if last := in.Events[len(in.Events)-1].Time; last < span.To {
		f.Doubtful = true
		f.Because(checker.Cause{Kind: checker.CauseRecord, Text: "the record ends before the time limit for recovery has passed, so " +
			"the record does not show whether the clients got the lock within this limit"})
		return f, true
	}
	if in.hostMade(suspects) {
		f.Doubtful = true
		f.Because(checker.Cause{Kind: checker.CauseStall, Text: "the host was busy (tasks waited for a processor or a disk most of " +
			"the time), so the answers of the store came too late"})
		return f, true
	}
	// A lock that cannot end by itself is not waited for in vain because of a hiccup.
	forGood := f.Rule == "orphan" && in.Run.Ends == history.EndsNever
	again := slices.ContainsFunc(in.ByLock[lock], func(g *history.Grant) bool { return g.Granted() && g.From() >= span.From })
	if !forGood && again && !slices.ContainsFunc(stuck, func(client string) bool { return a.heard[client] }) {
		f.Doubtful = true
		f.Because(checker.Cause{Kind: checker.CauseRecord, Text: "the clients sent their requests either before the faults ended (a " +
			"fault can lose such requests), or too late for an answer within the time limit, so the missing answers prove nothing"})
		return f, true
	}
	if f.Doubtful = !forGood && in.HeldUp(span, in.LongStalls()) > in.Run.LivenessBound/4; f.Doubtful {
		f.Because(checker.Cause{Kind: checker.CauseStall, Text: "the host stalled after the faults had ended, so the clients may " +
			"have had too little time to get the lock"})
	} else if f.Doubtful = !forGood && in.HeldUp(span, in.Busy(0.5)) > (span.To-span.From)/2 &&
		in.silence(span) > (span.To-span.From)/2; f.Doubtful {
		f.Because(checker.Cause{Kind: checker.CauseStall, Text: "the host was busy (tasks waited for a processor or a disk most of " +
			"the time), so the store may have had no processor time"})
	}
	return f, true
}

// deadlocked makes a finding one of two clients that wait for each other, whichever of their locks it was about.
func deadlocked(f checker.Finding, pair []facts.NestedWait) checker.Finding {
	a, b := pair[0], pair[1]
	text := a.Says(true) + ", while " + b.Says(true)
	f.Rule, f.Class, f.Grants, f.Events = ruleDeadlocked, checker.NoClass, []string{a.Wait.ID, b.Wait.ID},
		[]int64{a.Wait.Acquire.Invoke.Index, b.Wait.Acquire.Invoke.Index}
	f.Message = fmt.Sprintf("deadlock: %s (since %s, still waiting at %s)", text, checker.Seconds(max(a.From, b.From)),
		checker.Seconds(f.To))
	f.Because(checker.Cause{Kind: checker.CauseNone, Text: text})
	slices.Sort(f.Events)
	return f
}

// silence is the longest part of a span in which the store answered nobody: a busy host explains no wait in which it did.
func (in question) silence(span history.Interval) (longest int64) {
	answers := []int64{span.From, span.To}
	for _, c := range in.Calls {
		switch c.Invoke.F() {
		case history.FAcquire, history.FTryAcquire, history.FRenew, history.FRelease:
			if at := c.End(); at > span.From && at < span.To && (c.Outcome() == history.OK || c.NotHeld() ||
				c.Return.Code() == history.ErrBusy) {
				answers = append(answers, at)
			}
		}
	}
	slices.Sort(answers)
	for i, at := range answers[1:] {
		longest = max(longest, at-answers[i])
	}
	return longest
}

// The rules of clients that wait in vain while others are granted, and that wait for each other.
const (
	ruleStarved    = "starved"
	ruleDeadlocked = "deadlocked"
)

// passedAround reports whether a lock came back to somebody who did not hold it when all was
// healed: then it works, and who waits starves.
func (in question) passedAround(lock string, a *askers, from int64) bool {
	held := map[string]bool{}
	for _, g := range in.ByLock[lock] {
		if h := in.Hold(g); !h.Empty() && h.From <= from && h.To > from {
			held[g.Client] = true
		}
	}
	for client := range a.back {
		if !held[client] {
			return true
		}
	}
	return false
}

// heldThrough is a grant that its client believed in for nearly all of a time: then it is not the
// lock that keeps others out. nil: none.
func (in question) heldThrough(lock string, span history.Interval) *history.Grant {
	g, _ := lists.Find(in.ByLock[lock], func(g *history.Grant) bool {
		h := in.Hold(g)
		return g.Granted() && !h.Empty() && h.From <= span.From && h.To >= span.To-(span.To-span.From)/10
	})
	return g
}
