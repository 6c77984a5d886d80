package checker

import "slices"

// worstOverlaps are the overlaps to list, as many as most, the worst by [Rank]. To explain one costs time, so each is first
// ranked by what is cheap to know: its class, whether a lock was freed by somebody else, what was lost, and
// its length. That is the best place that it can have once it is explained, so the list is settled as soon as
// its last entry is no worse than the best place of the next candidate.
func (in *Input) worstOverlaps(all []overlap, most int) []Finding {
	if len(all) == 0 {
		return nil
	}
	type candidate struct {
		overlap
		class  Class
		reason Reason
		why    string
		best   Finding // what it ranks as, at best
	}
	candidates := make([]candidate, len(all))
	for i, o := range all {
		c := candidate{overlap: o}
		c.class, c.reason, c.why = in.classify(o)
		c.best = in.asOverlap(o, c.class, c.reason)
		if _, freed := in.freedBy(o.first, o.span.From); freed && c.class != Inherent && c.reason != ReasonToldLate {
			c.best.CauseKind = CauseRelease
		}
		in.settle(&c.best)
		candidates[i] = c
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return Rank(a.best, b.best) })
	var worst []Finding
	for _, c := range candidates {
		if len(worst) == most && Rank(worst[most-1], c.best) <= 0 {
			break
		}
		f := in.overlapFinding(c.overlap, c.class, c.reason, c.why)
		in.settle(&f)
		at, _ := slices.BinarySearchFunc(worst, f, Rank)
		worst = slices.Insert(worst, at, f)
		worst = worst[:min(len(worst), most)]
	}
	return worst
}
