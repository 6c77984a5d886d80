package data

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// lossReason is the rule, class and cause of a lost update.
type lossReason struct {
	rule   string
	class  checker.Class
	reason checker.Reason
	cause  checker.Cause
	turns  []string // the grants that met
}

// suspect is a loss for which no lock can be blamed.
func suspect(reason checker.Reason, text string) lossReason {
	return lossReason{rule: "lost-update", class: checker.NoClass, reason: reason, cause: checker.Cause{
		Kind: checker.CauseRecord,
		Text: text,
	}}
}

// explainLoss gives a lost update the class of the overlap of its grants. Without an
// overlap, a write of either side that was invoked inside its own hold but applied
// after it is inherent, too; anything else makes the record suspect.
func (in question) explainLoss(e *history.Event, overwritten []*history.Event) lossReason {
	g := in.ByID[e.Grant()]
	if g == nil || !g.Granted() {
		return suspect(checker.ReasonNotGranted, "the record may be wrong: data was written under grant "+e.Grant()+
			", but no client got this grant")
	}
	for _, w := range append([]*history.Event{e}, overwritten...) {
		if in.wroteAfterRelease(w) {
			return suspect(checker.ReasonUsedAfterRelease, fmt.Sprintf("the client of grant %s wrote although the store had already "+
				"acknowledged the release of this grant: the client is at fault, not the lock", w.Grant()))
		}
	}
	if in.Run.OwnFence {
		return lossReason{"lost-update", checker.Defect, checker.ReasonOwnFence, in.StoreCause(g, e.Time), nil}
	}
	var worst *facts.Overlap
	worstClass, worstReason, together := checker.Inherent, checker.Reason(""), false
	for _, w := range overwritten {
		h := in.ByID[w.Grant()]
		if h == nil || !h.Granted() {
			continue
		}
		o := facts.Overlap{First: g, Second: h, Span: in.Hold(g).Overlap(in.Hold(h))}
		if h.From() < g.From() {
			o.First, o.Second = h, g
		}
		if o.Span.Empty() {
			continue
		}
		if in.Model.Together(g, h) {
			together = true
			continue
		}
		if class, reason, _ := in.Classify(o); worst == nil || class.Rank() < worstClass.Rank() {
			worst, worstClass, worstReason = &o, class, reason
		}
	}
	if worst != nil {
		return lossReason{
			"lost-update", worstClass, worstReason, in.OverlapCause(*worst, worstClass),
			[]string{worst.First.ID, worst.Second.ID},
		}
	}
	if latest := in.latest(append([]*history.Event{e}, overwritten...)); latest != nil {
		return lossReason{
			"late-write", checker.Inherent, checker.ReasonAppliedLate, in.lateWriteCause(in.ByID[latest.Grant()], latest),
			nil,
		}
	}
	if together {
		return suspect(checker.ReasonTogether, "the workload, not the lock, may be wrong: two clients damaged data under grants that "+
			"the rules of this lock allow at the same time")
	}
	return suspect(checker.ReasonNoOverlap, "the record may be wrong: data was damaged, although the two grants of this finding "+
		"were never held at the same time")
}

// latest returns the write that was applied longest after its own hold, which is the one worth explaining; nil if
// none was.
func (in question) latest(writes []*history.Event) (latest *history.Event) {
	most := int64(-1)
	for _, w := range writes {
		g := in.ByID[w.Grant()]
		if g == nil || !in.appliedLate(g, w) {
			continue
		}
		if behind := w.Time - in.Hold(g).To; behind > most {
			latest, most = w, behind
		}
	}
	return latest
}

// wroteAfterRelease reports whether a write was invoked after the store had answered the
// release of its own grant.
func (in question) wroteAfterRelease(w *history.Event) bool {
	g := in.ByID[w.Grant()]
	return g != nil && in.WentOn()[g] && slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		return u.Invoke.F() == history.FWrite && u.Invoke.Register() == w.Register() && u.Invoke.New() == w.New() &&
			g.AfterRelease(u)
	})
}

// lateWriteCause is why a request arrived late: a stall of the host between its
// invocation and its effect, or whatever held its client or the request up.
func (in question) lateWriteCause(g *history.Grant, w *history.Event) checker.Cause {
	from := g.Sent()
	for _, u := range g.Uses {
		if u.Invoke.F() == history.FWrite && u.Invoke.Register() == w.Register() && u.Start() <= w.Time {
			from = max(from, u.Start())
		}
	}
	over := in.Hold(g).To
	return in.LateCause(causes.Lateness{
		Grant: g, From: from, Until: w.Time, Begun: max(over, from+1), Due: history.Some(over),
		OnItsWay: true,
	})
}

// appliedLate reports whether a write was invoked inside its own hold and applied after
// it: a delayed request.
func (in question) appliedLate(g *history.Grant, w *history.Event) bool {
	hold := in.Hold(g)
	return w.Time >= hold.To && slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		return u.Invoke.F() == history.FWrite && u.Invoke.Register() == w.Register() && u.Start() <= hold.To
	})
}
