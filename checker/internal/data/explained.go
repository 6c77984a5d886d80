package data

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// explained is the finding of what a register's log, or what its clients were told, shows. wrong is false
// where it turns out that nothing was done wrong.
func (in question) explained(s facts.Shown) (f checker.Finding, wrong bool) {
	e := s.Event
	switch s.What {
	case facts.ShowsMismatch:
		return plainly("log-mismatch", s, fmt.Sprintf("the register returned the value %d to a read under grant %s, but according to "+
			"the register's log the value was %d", e.Base().V, e.Grant(), s.Value)), true
	case facts.ShowsNoToken:
		return plainly("no-token", s, fmt.Sprintf("the fenced register accepted a %s (grant %s) that had no fencing token: the fence "+
			"does not work", e.F(), e.Grant())), true
	case facts.ShowsStale:
		return plainly("stale-accepted", s, fmt.Sprintf("the fenced register accepted a %s under grant %s with token %d, although it "+
			"had already accepted the higher token %d: the fence does not work", e.F(), e.Grant(), e.Token().V, s.Value)), true
	case facts.ShowsEqual:
		return plainly("equal-token", s, fmt.Sprintf("the fenced register accepted token %d from grant %s and also from grant %s: "+
			"the fence cannot distinguish the two grants", s.Value, s.Holder, e.Grant())), true
	case facts.ShowsSplit:
		return in.split(s)
	case facts.ShowsLoss:
		return in.lostUpdate(s), true
	}
	return in.replacedUnseen(s), true
}

// plainly is a finding that needs no explanation: not one of its own, at least.
func plainly(rule string, s facts.Shown, message string) checker.Finding {
	e := s.Event
	f := checker.Finding{
		Rule: rule, Class: checker.NoClass, Cause: checker.NoCause.Text, CauseKind: checker.CauseNone, Gating: true,
		Message: message, Events: []int64{e.Index}, From: e.Time, To: e.Time, Grants: []string{e.Grant()},
	}
	for _, o := range s.Others {
		f.Events = append(f.Events, o.Index)
		f.From = min(f.From, o.Time)
		if !slices.Contains(f.Grants, o.Grant()) {
			f.Grants = append(f.Grants, o.Grant())
		}
	}
	slices.Sort(f.Events)
	return f
}

// split is a section that was not one step, unless its grants may be held at once.
func (in question) split(s facts.Shown) (f checker.Finding, wrong bool) {
	e := s.Event
	why := in.explainLoss(e, s.Others)
	if why.reason == checker.ReasonTogether {
		return f, false
	}
	f = plainly("split-section", s, fmt.Sprintf("the critical section of %s (grant %s) was not atomic: other writes (%s) came "+
		"between the first read and the %s of this section at %s",
		e.Client(), e.Grant(), grantsOf(s.Others), e.F(), checker.Seconds(e.Time)))
	why.explain(&f)
	return f, true
}

// lostUpdate explains a stale write by the grants that met there.
func (in question) lostUpdate(s facts.Shown) checker.Finding {
	e, unseen := s.Event, len(s.Others)
	why := in.explainLoss(e, s.Others)
	f := plainly(why.rule, s, fmt.Sprintf("the write of %s (grant %s, value %d -> %d) at %s overwrote %d acknowledged %s of "+
		"%s unseen", e.Client(), e.Grant(), e.Base().V, e.New().V, checker.Seconds(e.Time), unseen, updates(unseen),
		grantsOf(s.Others)))
	f.Cost(s.Loss())
	f.Message += broughtBack(unseen, int(f.Lost))
	why.explain(&f)
	return f
}

// explain sets the class and the cause of a finding: it is doubtful if the record is suspect, or the host alone is to
// blame.
func (why lossReason) explain(f *checker.Finding) {
	f.Because(why.cause)
	f.Class, f.Reason, f.Turns = why.class, why.reason, why.turns
	f.Doubtful = why.class == checker.NoClass || (why.class == checker.Inherent && why.cause.Unasked())
}

// replacedUnseen is one of two acknowledged updates of one value: the other one was lost.
func (in question) replacedUnseen(s facts.Shown) checker.Finding {
	e, w := s.Event, s.Others[0]
	why := in.explainLoss(e, s.Others)
	f := checker.Finding{
		Rule: "lost-update", Class: why.class, Reason: why.reason, Gating: true, Events: []int64{w.Index, e.Index},
		Grants: []string{w.Grant(), e.Grant()}, From: w.Time, To: e.Time,
		Message: fmt.Sprintf("two acknowledged writes (grants %s and %s) both replaced the value %d, so one of the two updates "+
			"was lost", w.Grant(), e.Grant(), e.Base().V),
	}
	f.Cost(s.Loss())
	f.Because(why.cause)
	f.Doubtful = why.class == checker.Inherent && why.cause.Unasked() || why.reason == checker.ReasonUsedAfterRelease
	return f
}

// broughtBack says of overwritten updates that not all of them are lost for good.
func broughtBack(unseen, lost int) string {
	switch {
	case lost == unseen:
		return ""
	case unseen == 1:
		return "; later writes brought it back"
	case lost == 0:
		return "; later writes brought all of them back"
	}
	text := fmt.Sprintf("; later writes brought %d of them back, and %d ", unseen-lost, lost)
	if lost == 1 {
		return text + "is lost for good"
	}
	return text + "are lost for good"
}

func updates(n int) string {
	if n == 1 {
		return "update"
	}
	return "updates"
}

func grantsOf(events []*history.Event) string {
	var ids []string
	for _, e := range events {
		ids = append(ids, e.Grant())
	}
	const shown = 3
	if len(ids) > shown {
		return fmt.Sprintf("grants %s and %d more", checker.Joined(ids[:shown], nil), len(ids)-shown)
	}
	if len(ids) == 1 {
		return "grant " + ids[0]
	}
	return "grants " + checker.Joined(ids, nil)
}
