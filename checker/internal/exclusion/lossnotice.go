package exclusion

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
	"github.com/lockstorm/lockstorm/history"
)

// lossNotice asks whether a holder was told that it lost the lock, and how late: the
// first loss notice or the deadline in force of each grant, against the next grant to
// somebody else while it had not released.
//
//	A |--granted-----------------------------|deadline
//	B                 |--granted--
//	                  |<---- told late ----->|
//
// A client that does not obey has no use for the notice, and is judged all the same.
func lossNotice(in question) checker.Result {
	if in.Run.NoClock {
		return checker.Undecided(checker.CodeNoClock, "the times that the lock reports cannot be trusted, so lockstorm cannot "+
			"measure how late a client learned that it had lost the lock")
	}
	if in.Run.Discipline == history.Told && !in.Run.ByDeadline() {
		return lossSignals(in)
	}
	figures := checker.Figures{}
	var findings []checker.Finding
	lost := 0
	for _, lock := range in.Locks {
		for _, p := range in.successions(lock) {
			lost++
			told, known := in.told(p.first)
			late := told - p.second.From()
			if known {
				figures.Raise("loss_notice_late_max_ns", max(late, 0))
			}
			if !known && in.CutOff(p.first.Client) {
				continue // it may have been told after its log was cut off
			}
			if !known || late > in.Run.Tolerance {
				findings = append(findings, in.lateNotice(p, told, known))
			}
		}
	}
	r := in.Conclude("comparison of two times for each lost grant: the time at which the holder learned of the loss (by a notice "+
		"or by its deadline), and the time at which the next client got the lock", findings, len(findings))
	r.Figures = figures
	if r.Verdict == checker.Pass {
		r.Reason = "no client got a lock before the previous holder released the lock"
		if lost > 0 {
			r.Reason = fmt.Sprintf("in %s another client got the lock before the holder released it; every holder could know of the "+
				"loss in time", checker.Count(lost, "case"))
			if in.Run.Discipline == history.Told && !slices.ContainsFunc(in.Events,
				func(e history.Event) bool { return e.F() == history.FAsked }) {
				r.Reason += " by the deadline; its library's method was never asked after a loss, so nobody knows whether it says no"
			}
		}
	}
	return r
}

// succession is a grant and the next one to another client before it was released.
type succession struct{ first, second *history.Grant }

// successions finds them in one pass over the grants in order of their answers: of each
// grant only the next exclusive one by somebody else counts.
func (in question) successions(lock string) []succession {
	var out []succession
	var open []*history.Grant
	for _, g := range in.ByOK(lock) {
		if d := g.DeadlineAt(g.From()); d.Set && g.From() >= d.V-in.Run.Tolerance {
			continue // it learned of its grant when that may have been over: which came first is not known
		}
		var left []*history.Grant
		for _, o := range open {
			switch {
			case in.GaveUp(o) <= g.From():
			case o.Client == g.Client || in.Model.Together(o, g):
				left = append(left, o)
			default:
				out = append(out, succession{o, g})
			}
		}
		left = append(left, g)
		open = left
	}
	return out
}

// told is when the holder could know that its lease is over.
func (in question) told(g *history.Grant) (int64, bool) {
	at := g.BeliefEnds()
	return at, at < history.Forever
}

func (in question) lateNotice(p succession, told int64, known bool) checker.Finding {
	f := checker.Finding{
		Rule: "late-notice", Class: checker.NoClass, Gating: true,
		Grants: []string{p.first.ID, p.second.ID}, From: p.second.From(), To: told,
		Events: in.HoldEvents(p.first, p.second),
		Message: fmt.Sprintf("%s got lock %s (grant %s) at %s; the previous holder %s (grant %s) had no way to detect the loss for "+
			"another %s",
			p.second.Client, p.first.Lock, p.second.ID, checker.Seconds(p.second.From()), p.first.Client, p.first.ID,
			checker.Millis(told-p.second.From())),
	}
	if c, freed := in.FreedBy(p.first, p.second.From()); freed {
		f.Because(c)
	} else {
		f.Because(in.CauseOf(p.first, p.second.From()))
	}
	if !known {
		f.Rule, f.To = "no-notice", in.GaveUp(p.first)
		f.Message = fmt.Sprintf("%s got lock %s (grant %s) at %s; the previous holder %s (grant %s) was never told of the loss",
			p.second.Client, p.first.Lock, p.second.ID, checker.Seconds(p.second.From()), p.first.Client, p.first.ID)
	}
	return f
}

// lossSignals asks of clients that go by the signals of their library alone how late each was
// told, counted from the end of its lease: also where nobody else was granted the lock.
func lossSignals(in question) checker.Result {
	figures := checker.Figures{}
	var findings []checker.Finding
	lost, timed := 0, false
	unseen := map[*history.Grant]bool{} // lost, and nothing on record says when their leases ran out
	for _, lock := range in.Locks {
		for _, p := range in.successions(lock) {
			unseen[p.first] = !in.endOfLease(p.first).Set
		}
		for _, g := range in.ByLock[lock] {
			timed = timed || in.endOfLease(g).Set
			late, known := in.SignalLate(g)
			if !known {
				continue
			}
			lost++
			figures.Raise("loss_notice_late_max_ns", late)
			if late > in.Run.Tolerance {
				findings = append(findings, in.lateSignal(g, late))
			}
		}
	}
	r := in.Conclude("comparison of two times for each expired lease: the end of the lease, and the first signal of the library "+
		"that the lock is lost", findings, len(findings))
	r.Figures = figures
	maps.DeleteFunc(unseen, func(_ *history.Grant, is bool) bool { return !is })
	switch {
	case r.Verdict == checker.Pass && len(unseen) > 0:
		return checker.Undecided(checker.CodeNoClock, fmt.Sprintf("%s lost the lock to another client, but the record does not show "+
			"when the lease ran out, so nobody knows how late the holder was told", checker.Count(len(unseen), "holder")))
	case r.Verdict == checker.Pass && !timed:
		return checker.Undecided(checker.CodeNoClock, "the record does not show when any lease runs out, so there is nothing to "+
			"compare the signals with")
	case r.Verdict == checker.Pass:
		r.Reason = "no lease ran out before the holder released the lock"
		if lost > 0 {
			r.Reason = fmt.Sprintf("%s expired before the holder released the lock; every holder was told of the loss in time",
				checker.Count(lost, "lease"))
		}
	}
	return r
}

// endOfLease is the deadline that was in force when the client of a grant was told, or ended its tenure without having been told.
func (in question) endOfLease(g *history.Grant) history.Opt {
	return g.DeadlineAt(min(g.ToldLost(), in.GaveUp(g)))
}

func (in question) lateSignal(g *history.Grant, late int64) checker.Finding {
	end := in.endOfLease(g).V
	f := checker.Finding{
		Rule: "late-notice", Class: checker.NoClass, Gating: true, Grants: []string{g.ID}, From: end, To: end + late,
		Events: in.HoldEvents(g),
		Message: fmt.Sprintf("the last confirmed lease of %s on lock %s (grant %s) ran out at %s, and the client's library %s",
			g.Client, g.Lock, g.ID, checker.Seconds(end), in.Signal(g)),
	}
	if g.ToldLost() == history.Forever {
		f.Rule = "no-notice"
	}
	f.Because(in.LateCause(causes.Lateness{
		Grant: g, From: in.InTime(g, end), Until: end + late, Begun: end,
		Due: history.Some(end),
	}))
	return f
}

func hasLeases(in question) (checker.Code, string) {
	return checker.Only(in.Leased(), checker.CodeNoLease, "this lock has no leases, so a client cannot lose a lease")
}
