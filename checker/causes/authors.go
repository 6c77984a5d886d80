package causes

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Clash is the judgement on two grants that were held at once, for checks that find damage done by both: the class of
// their overlap is the class of the damage.
type Clash struct {
	Class    checker.Class
	Reason   checker.Reason
	Cause    checker.Cause
	Doubtful bool // only a stall of the host explains it
}

// Clash judges the overlap of two grants, as the check mutual-exclusion does. met is false if they were not held at
// once, or may be held together.
func (in Causes) Clash(a, b *history.Grant) (c Clash, met bool) {
	if !a.Granted() || !b.Granted() || in.Model.Together(a, b) {
		return c, false
	}
	if b.From() < a.From() {
		a, b = b, a
	}
	o := facts.Overlap{First: a, Second: b, Span: in.Hold(a).Overlap(in.Hold(b))}
	if o.Span.Empty() {
		return c, false
	}
	c.Class, c.Reason, _ = in.Classify(o)
	c.Cause = in.OverlapCause(o, c.Class)
	c.Doubtful = c.Class == checker.Inherent && c.Cause.Unasked()
	return c, true
}
