package checker

import "github.com/lockstorm/lockstorm/history"

// Clash is what two grants that were held at once are worth, for checks that find damage done by
// both: the class of their overlap is the class of the damage.
type Clash struct {
	Class    Class
	Reason   Reason
	Cause    Cause
	Doubtful bool // only a stall of the host that nobody asked for explains it
}

// Clash judges the overlap of two grants, as the check mutual-exclusion does. met is false where
// they were not held at once, or may be.
func (in *Input) Clash(a, b *history.Grant) (c Clash, met bool) {
	if !a.Granted() || !b.Granted() || in.Model.Together(a, b) {
		return c, false
	}
	if b.From() < a.From() {
		a, b = b, a
	}
	o := overlap{first: a, second: b, span: in.Hold(a).Overlap(in.Hold(b))}
	if o.span.Empty() {
		return c, false
	}
	c.Class, c.Reason, _ = in.classify(o)
	c.Cause = in.overlapCause(o, c.Class)
	c.Doubtful = c.Class == Inherent && c.Cause.unasked()
	return c, true
}
