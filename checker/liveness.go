package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// liveness asks whether the lock comes back: when all is healed every client that lives
// does one last section per lock, and must be granted it within the bound. Earlier
// grants do not count: a lock may break after them. The bound is on record:
// longest lease + stated recovery of the topology + the queue of clients + 2 s.
func liveness(in *Input) Result {
	figures := Figures{}
	recoveries := in.recovery(figures)
	r := in.final(recoveries, figures)
	r.Figures = figures
	return r
}

// final judges the final sections.
func (in *Input) final(recoveries []Recovery, figures Figures) Result {
	if in.End == nil {
		return Undecided(CodeNoEnd, "the run was cut off before its final sections")
	}
	from, ok := in.Phases[history.PhaseFinal]
	if !ok {
		return Undecided(CodeNoFinal, "the history has no final phase")
	}
	if healed := in.lastHeal(); healed > from {
		return Undecided(CodeStillHurt, fmt.Sprintf("a fault was at work until %s, after the final sections began", Seconds(healed)))
	}
	until := from + in.Run.LivenessBound
	var findings []Finding
	for _, lock := range in.Locks {
		if f, bad := in.comesBack(lock, from, until); bad {
			findings = append(findings, f)
		}
	}
	r := Conclude("grants of the final sections", findings, len(findings))
	if r.Verdict == Pass { // else the findings name who stands in the way
		r.Findings = append(r.Findings, in.orphans(figures)...)
	}
	if len(recoveries) > 0 {
		r.Proof = NewProof(recoveries)
	}
	if r.Verdict == Pass {
		r.Reason = fmt.Sprintf("every client was granted every lock again within %s, once all was healed; bound %s", Seconds(in.slowest(from)), Seconds(in.Run.LivenessBound))
	}
	return r
}

// slowest is how long the slowest client waited for its first grant of a lock after a
// moment.
func (in *Input) slowest(from int64) int64 {
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

// lastHeal is the moment from which nothing hurts any more.
func (in *Input) lastHeal() int64 {
	var last int64
	for _, f := range in.Faults {
		if f.Effective() {
			if t := f.Until(); t != history.Forever {
				last = max(last, t)
			}
		}
	}
	for _, t := range in.Kills {
		last = max(last, t)
	}
	return last
}

// comesBack looks for clients that were not granted the lock in the time that recovery
// may take. A long stall of the host in that time explains it.
func (in *Input) comesBack(lock string, from, until int64) (Finding, bool) {
	back := map[string]bool{}
	for _, g := range in.ByLock[lock] {
		if g.Granted() && g.From() >= from && g.From() <= until {
			back[g.Client] = true
		}
	}
	var stuck []string
	for client := range in.Last {
		if _, killed := in.Kills[client]; !killed && !back[client] {
			stuck = append(stuck, client)
		}
	}
	if len(stuck) == 0 {
		return Finding{}, false
	}
	slices.Sort(stuck)
	f := Finding{
		Rule: "no-recovery", Class: NoClass, Gating: true, From: from, To: until, Events: []int64{}, Cause: noCause.Text, CauseKind: CauseNone,
		Message: fmt.Sprintf("%d of %d living clients (%s) were not granted %s again within %s of %s, when all was healed",
			len(stuck), len(in.Last)-len(in.Kills), joined(stuck, nil), lock, Seconds(until-from), Seconds(from)),
	}
	in.suspect(lock, &f)
	// A lock that cannot end by itself is not waited for in vain because of a hiccup.
	forGood := f.Rule == "orphan" && in.Run.Ends == history.EndsNever
	if f.Doubtful = !forGood && in.heldUp(history.Interval{From: from, To: until}, in.longStalls()) > in.Run.LivenessBound/4; f.Doubtful {
		f.because(Cause{Kind: CauseStall, Text: "the host held the run up"})
	}
	return f, true
}

// suspect names who may still hold the lock: the last grant, or attempt of unknown
// outcome, that was never certainly given back.
func (in *Input) suspect(lock string, f *Finding) {
	for _, g := range slices.Backward(in.ByLock[lock]) {
		if g.Acquire == nil || g.Acquire.Outcome() == history.Fail {
			continue
		}
		if in.followed(lock, g) {
			continue // somebody was granted after it: it does not stand in the way
		}
		released := slices.ContainsFunc(g.Releases, func(c *history.Call) bool { return c.Outcome() == history.OK || isNotHeld(c) })
		if released {
			continue
		}
		f.Rule, f.Reason = "orphan", ReasonNeverReleased
		f.Grants = []string{g.ID}
		f.Events = []int64{g.Acquire.Invoke.Index}
		f.because(in.CauseOf(g, f.From))
		what := "was granted"
		if !g.Granted() {
			what = "may have been granted"
		}
		f.Message += fmt.Sprintf("; %s of %s %s at %s and was never given back", g.ID, g.Client, what, Seconds(g.Sent()))
		return
	}
}

// followed reports whether the lock was granted to somebody who asked after g was known. An
// attempt of unknown outcome may have taken the lock until its client stopped waiting: grants
// while it waited say nothing.
func (in *Input) followed(lock string, g *history.Grant) bool {
	since := in.callEnd(g.Acquire)
	if g.Granted() {
		since = g.From()
	}
	return slices.ContainsFunc(in.ByLock[lock], func(h *history.Grant) bool {
		return h != g && h.Granted() && h.Sent() > since && !in.Model.Together(g, h)
	})
}

// Recovery is how long after the beginning of a fault somebody whom it did not hurt was
// granted a lock again, the slowest lock first: the proof of liveness lists one a fault.
type Recovery struct {
	Fault string `json:"fault"`
	ID    int    `json:"id"`
	Lock  string `json:"lock"`
	From  int64  `json:"from_ns"`
	Took  int64  `json:"took_ns"`
}

// recovery measures, for each fault that took effect, the time until the next grant
// to a client that it did not hurt.
func (in *Input) recovery(figures Figures) (out []Recovery) {
	for _, f := range in.Faults {
		if !f.Effective() {
			continue
		}
		slowest := Recovery{Fault: f.Fault.Fault, ID: f.ID, From: f.Invoke.Time, Took: -1}
		for _, lock := range in.Locks {
			next := int64(history.Forever)
			for _, g := range in.ByLock[lock] {
				if g.Granted() && g.From() > f.Invoke.Time && !slices.Contains(f.Clients, g.Client) {
					next = min(next, g.From())
				}
			}
			if took := next - f.Invoke.Time; next < history.Forever && took > slowest.Took {
				slowest.Lock, slowest.Took = lock, took
				figures.Raise("recovery_max_ns", took)
			}
		}
		if slowest.Took >= 0 {
			out = append(out, slowest)
		}
	}
	return out
}
