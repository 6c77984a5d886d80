package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// lossReason is the rule, class and cause of a lost update.
type lossReason struct {
	rule   string
	class  Class
	reason Reason
	cause  Cause
}

// suspect is a loss for which no lock can be blamed.
func suspect(reason Reason, text string) lossReason {
	return lossReason{"lost-update", NoClass, reason, Cause{Kind: CauseRecord, Text: text}}
}

// explainLoss gives a lost update the class of the overlap of its grants. Without an
// overlap, a write of either side that was invoked inside its own hold but applied
// after it is inherent, too; anything else makes the record suspect.
func (in *Input) explainLoss(e *history.Event, overwritten []*history.Event) lossReason {
	g := in.ByID[e.Grant]
	if g == nil || !g.Granted() {
		return suspect(ReasonNotGranted, "suspect the record: nobody was granted "+e.Grant)
	}
	for _, w := range append([]*history.Event{e}, overwritten...) {
		if in.wroteAfterRelease(w) {
			return suspect(ReasonUsedAfterRelease, fmt.Sprintf("the client of %s wrote after the release of its own grant was answered: it is wrong, not the lock", w.Grant))
		}
	}
	if in.Run.OwnFence {
		return lossReason{"lost-update", Defect, ReasonOwnFence, in.storeCause(g, e.Time)}
	}
	var worst *overlap
	worstClass, worstReason, together := Inherent, Reason(""), false
	for _, w := range overwritten {
		h := in.ByID[w.Grant]
		if h == nil || !h.Granted() {
			continue
		}
		o := overlap{first: g, second: h, span: in.Hold(g).Overlap(in.Hold(h))}
		if h.From() < g.From() {
			o.first, o.second = h, g
		}
		if o.span.Empty() {
			continue
		}
		if in.Model.Together(g, h) {
			together = true
			continue
		}
		if class, reason, _ := in.classify(o); worst == nil || class.rank() < worstClass.rank() {
			worst, worstClass, worstReason = &o, class, reason
		}
	}
	if worst != nil {
		return lossReason{"lost-update", worstClass, worstReason, in.overlapCause(*worst, worstClass)}
	}
	if latest := in.latest(append([]*history.Event{e}, overwritten...)); latest != nil {
		return lossReason{"late-write", Inherent, ReasonAppliedLate, in.lateWriteCause(in.ByID[latest.Grant], latest)}
	}
	if together {
		return suspect(ReasonTogether, "suspect the workload: its grants may be held at once")
	}
	return suspect(ReasonNoOverlap, "suspect the record: the two grants do not overlap")
}

// latest is the write that was applied longest after its own hold, of those that were: it is the one worth
// explaining. nil: there is none.
func (in *Input) latest(writes []*history.Event) (latest *history.Event) {
	most := int64(-1)
	for _, w := range writes {
		g := in.ByID[w.Grant]
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
func (in *Input) wroteAfterRelease(w *history.Event) bool {
	g := in.ByID[w.Grant]
	return g != nil && in.wentOn()[g] && slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		return u.Invoke.F == history.FWrite && u.Invoke.Register == w.Register && u.Invoke.Value.New == w.Value.New && g.AfterRelease(u)
	})
}

// lateWriteCause is why a request arrived late: a stall of the host between its
// invocation and its effect, or whatever held its client or the request up.
func (in *Input) lateWriteCause(g *history.Grant, w *history.Event) Cause {
	from := g.Sent()
	for _, u := range g.Uses {
		if u.Invoke.F == history.FWrite && u.Invoke.Register == w.Register && u.Start() <= w.Time {
			from = max(from, u.Start())
		}
	}
	over := in.Hold(g).To
	return in.lateCause(lateness{g: g, from: from, until: w.Time, begun: max(over, from+1), due: history.Some(over), onItsWay: true})
}

// appliedLate reports whether a write was invoked inside its own hold and applied after
// it: a delayed request.
func (in *Input) appliedLate(g *history.Grant, w *history.Event) bool {
	hold := in.Hold(g)
	return w.Time >= hold.To && slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		return u.Invoke.F == history.FWrite && u.Invoke.Register == w.Register && u.Start() <= hold.To
	})
}
