package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// conclude is Conclude for findings as they count in the run.
func (in *Input) conclude(method string, findings []Finding, total int) Result {
	for i := range findings {
		in.settle(&findings[i])
	}
	return Conclude(method, findings, total)
}

// settle makes a finding what it is in the run: what is inherent gates only where the run fails on it, and a
// defect that turns on a lease in whose life the wall clock moved by more than the tolerance is doubtful: the lease may have
// run out by the store's clock.
func (in *Input) settle(f *Finding) {
	f.Gating = f.Gating && (f.Class != Inherent || in.Run.FailOn != history.FailOnDefect)
	if !in.Leased() || len(in.steps()) == 0 || (f.Class != Defect && f.Class != Undetermined) {
		return
	}
	for _, id := range f.Grants {
		g := in.ByID[id]
		if g == nil || !g.Granted() {
			continue
		}
		if off := in.drift(history.Interval{From: g.Sent(), To: max(f.From, f.To)}); off > in.Run.Tolerance {
			f.Doubtful = true
			f.because(Cause{Kind: CauseClock, Text: fmt.Sprintf("the host's wall clock moved by %s in the life of %s", Millis(off), id)})
		}
	}
}

// weigh says of each finding what was lost by it, so that the worst are those that cost most.
func (in *Input) weigh(findings []Finding) []Finding {
	for i := range findings {
		findings[i].Lost = in.lostBy(findings[i].Grants)
	}
	return findings
}
