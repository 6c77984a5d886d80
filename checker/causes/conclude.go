package causes

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Conclude is [checker.Conclude] for findings as they count in the run.
func (in Causes) Conclude(method string, findings []checker.Finding, total int) checker.Result {
	for i := range findings {
		in.Settle(&findings[i])
	}
	return checker.Conclude(method, findings, total)
}

// Settle adjusts a finding to the run. What is inherent gates only if the run fails on it. A defect that depends on a
// lease during which the wall clock moved by more than the tolerance is doubtful: the lease may have run out by the
// store's clock.
func (in Causes) Settle(f *checker.Finding) {
	f.Gating = f.Gating && (f.Class != checker.Inherent || in.Run.FailOn != history.FailOnDefect)
	if !in.Leased() || len(in.Steps()) == 0 || (f.Class != checker.Defect && f.Class != checker.Undetermined) {
		return
	}
	turns := f.Turns
	if turns == nil {
		turns = f.Grants
	}
	for _, id := range turns {
		g := in.ByID[id]
		if g == nil || !g.Granted() {
			continue
		}
		if off := in.Drift(in.lifeUntil(g, max(f.From, f.To))); off > in.Run.Tolerance {
			f.Doubtful = true
			f.Because(checker.Cause{Kind: checker.CauseClock, Text: fmt.Sprintf("the host's wall clock jumped by %s during the lease of "+
				"grant %s", checker.Millis(off), id)})
		}
	}
}

// lifeUntil is the life of the lease of a grant up to a moment: when its clock does not matter any more, it had run out.
func (in Causes) lifeUntil(g *history.Grant, at int64) history.Interval {
	return history.Interval{From: g.Sent(), To: min(at, g.RunsOut(-in.Run.Tolerance))}
}

// Weigh sets what was lost by each finding, so that the costliest rank as the worst.
func (in Causes) Weigh(findings []checker.Finding) []checker.Finding {
	for i := range findings {
		findings[i].Cost(in.LossBy(findings[i].Grants))
	}
	return findings
}
