package exclusion

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
)

// worstOverlaps returns the overlaps to list, at most as many as most, the worst by [Rank]. Explaining one is
// expensive, so each is first ranked by cheap facts: its class, whether a lock was freed by another client, what was
// lost, and its length. That is the best rank that it can have once it is explained, so the list is final as soon as
// its last entry is no worse than the best rank of the next candidate.
func (in question) worstOverlaps(all []facts.Overlap, most int) []checker.Finding {
	if len(all) == 0 {
		return nil
	}
	type candidate struct {
		facts.Overlap
		class  checker.Class
		reason checker.Reason
		why    string
		best   checker.Finding // what it ranks as, at best
	}
	candidates := make([]candidate, len(all))
	for i, o := range all {
		c := candidate{Overlap: o}
		c.class, c.reason, c.why = in.Classify(o)
		c.best = in.asOverlap(o, c.class, c.reason)
		if _, freed := in.FreedBy(o.First, o.Span.From); freed && c.class != checker.Inherent && c.reason != checker.ReasonToldLate {
			c.best.CauseKind = checker.CauseRelease
		}
		in.Settle(&c.best)
		candidates[i] = c
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return checker.Rank(a.best, b.best) })
	longest := slices.MaxFunc(candidates, func(a, b candidate) int {
		return cmp.Compare(a.Span.To-a.Span.From, b.Span.To-b.Span.From)
	})
	explained := func(c candidate) checker.Finding {
		f := in.overlapFinding(c.Overlap, c.class, c.reason, c.why)
		in.Settle(&f)
		return f
	}
	var worst []checker.Finding
	for _, c := range candidates {
		if len(worst) == most && checker.Rank(worst[most-1], c.best) <= 0 {
			break
		}
		f := explained(c)
		at, _ := slices.BinarySearchFunc(worst, f, checker.Rank)
		worst = slices.Insert(worst, at, f)
		worst = worst[:min(len(worst), most)]
	}
	// The longest one is always listed: its length is a figure of the run.
	if f := explained(longest); len(worst) > 1 &&
		!slices.ContainsFunc(worst, func(w checker.Finding) bool { return w.To-w.From == f.To-f.From }) {
		worst[len(worst)-1] = f
	}
	return worst
}
